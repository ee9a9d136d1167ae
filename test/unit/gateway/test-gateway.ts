/** A listening gateway on a free port with a fake session, and small clients for it. */
import { EventEmitter, once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { type Logger, pino } from "pino";
import { type ClientOptions, WebSocket } from "ws";
import { createGateway, type Gateway } from "../../../src/gateway/gateway.ts";
import type { GatewayOptions } from "../../../src/gateway/gateway-options.ts";
import type { SessionService } from "../../../src/session/session-types.ts";
import { FakeSession } from "./fake-session.ts";

export interface TestGateway {
  readonly gateway: Gateway;
  readonly session: FakeSession;
  readonly url: string;
  readonly port: number;
  /** Log lines, as written. */
  readonly log: readonly string[];
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  connect(options?: ClientOptions): Promise<TestSocket>;
}

export async function startGateway(
  options: Partial<GatewayOptions> & {
    readonly isLoading?: boolean;
    /** Instead of the fake one. */
    readonly realSession?: SessionService;
  } = {},
): Promise<TestGateway> {
  const { isLoading = false, realSession, ...gatewayOptions } = options;
  const log: string[] = [];
  const gateway = createGateway({
    host: "127.0.0.1",
    port: 0,
    metrics: { contentType: "text/plain", render: async () => "up 1\n" },
    logger: memoryLogger(log),
    ...gatewayOptions,
  });
  const session = new FakeSession();
  const { url, port } = await gateway.listen();
  if (!isLoading) gateway.setReady(realSession ?? session);
  return {
    gateway,
    session,
    url,
    port,
    log,
    post: (path, body, headers = {}) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    connect: (socketOptions = {}) =>
      TestSocket.open(`ws://127.0.0.1:${port}/v1/responses`, socketOptions),
  };
}

function memoryLogger(lines: string[]): Logger {
  return pino({ level: "trace" }, { write: (line: string) => lines.push(line) });
}

export interface Frame {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Collects frames; `until` resolves with all frames so far once one satisfies the condition. */
export class TestSocket {
  readonly socket: WebSocket;
  readonly frames: Frame[] = [];
  readonly closed: Promise<number>;
  readonly #arrivals = new EventEmitter();

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = once(socket, "close").then(([code]) => code as number);
    socket.on("message", (data) => {
      this.frames.push(JSON.parse(String(data)) as Frame);
      this.#arrivals.emit("frame");
    });
    socket.on("error", () => undefined); // "close" follows
    socket.on("close", () => this.#arrivals.emit("frame"));
  }

  static async open(url: string, options: ClientOptions): Promise<TestSocket> {
    const socket = new WebSocket(url, options);
    const testSocket = new TestSocket(socket);
    await once(socket, "open");
    return testSocket;
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  create(fields: object = {}): void {
    this.send({ type: "response.create", model: "fake-model", input: "hi", ...fields });
  }

  async until(isLast: (frame: Frame) => boolean, count = 1): Promise<readonly Frame[]> {
    while (this.frames.filter(isLast).length < count) {
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error("the socket was closed");
      await once(this.#arrivals, "frame");
    }
    return this.frames;
  }
}

export const isError = (frame: Frame): boolean => frame.type === "error";

export function isTerminal(frame: Frame): boolean {
  return /^(error|response\.(completed|failed|incomplete))$/.test(frame.type);
}

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/** Bytes on a TCP socket, for requests that no HTTP client would send. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  const socket: Socket = createConnection(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => socket.destroy());
  socket.write(bytes);
  await once(socket, "close");
  const text = Buffer.concat(chunks).toString();
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text };
}

export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

export function parseSse(text: string): readonly SseEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("event:") || block.startsWith("data:"))
    .map((block) => ({
      event: /^event: (.*)$/m.exec(block)?.[1],
      data: /^data: (.*)$/m.exec(block)?.[1] ?? "",
    }));
}

/** Untyped on purpose: the wire form is what these tests are about. */
export async function jsonOf(response: Response) {
  return JSON.parse(await response.text());
}
