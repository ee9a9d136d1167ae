/**
 * Sends one mutated request and says what is wrong with the answer. Right is a valid result, or an error
 * with a stable code; wrong are a 5xx that is not a refusal, an answer of another form, none at all.
 */
import http from "node:http";
import { WebSocket } from "ws";
import type { MutatedRequest } from "./mutate.ts";

/** undefined: as it should be. */
type Fault = string | undefined;

export interface Answer {
  readonly kind: "result" | "refusal";
  readonly fault: Fault;
}

const result = (fault: Fault): Answer => ({ kind: "result", fault });
const refusal = (fault: Fault): Answer => ({ kind: "refusal", fault });

/** No answer is this slow but on a machine that is stopped. */
const DEADLINE_MS = 180_000;
const TERMINAL = /^response\.(completed|incomplete|failed)$/;
/** Codes of close frames that answer a frame. */
const REFUSING_CLOSES: ReadonlySet<number> = new Set([1003, 1007, 1009]);

type Json = Readonly<Record<string, unknown>>;

function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

function faultOfError(error: unknown, mayLackCode: boolean): Fault {
  const { message, type, code, param, ...others } = (error ?? {}) as Json;
  const hasForm =
    typeof message === "string" &&
    typeof type === "string" &&
    (typeof param === "string" || param === null) &&
    (typeof code === "string" || (code === null && mayLackCode)) &&
    Object.keys(others).length === 0;
  if (!hasForm) return `error of another form: ${JSON.stringify(error)}`;
  if (code === "server_error") return `internal error: ${message}`;
  return /\bat .+:\d+:\d+|\/node_modules\//.test(message) ? `a stack: ${message}` : undefined;
}

function faultOfEvent({ type, response }: Json): Fault {
  const { error } = (response ?? {}) as Json;
  const { code, message } = (error ?? {}) as Json;
  return type === "response.failed" && code === "server_error"
    ? `internal error: ${String(message)}`
    : undefined;
}

function faultOfStream(text: string): Fault {
  const data = text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => line.slice("data: ".length));
  const last = data.at(-1) ?? "";
  if (last === "[DONE]") return undefined;
  const event = parseObject(last);
  if (event === undefined) return `a stream that ends with ${last.slice(0, 200)}`;
  if ("error" in event) return faultOfError(event.error, false);
  return TERMINAL.test(String(event.type)) ? faultOfEvent(event) : `a stream without an end`;
}

function readReply(status: number, contentType: string, text: string): Answer {
  if (status === 200 && contentType.startsWith("text/event-stream")) {
    return result(faultOfStream(text));
  }
  const body = parseObject(text);
  if (body === undefined) return refusal(`status ${status}, no JSON: ${text.slice(0, 200)}`);
  if (status === 200) return result(body.error ? faultOfError(body.error, false) : undefined);
  if (status < 400 || (status >= 500 && status !== 503))
    return refusal(`status ${status}: ${text}`);
  return refusal(faultOfError(body.error, status === 404));
}

export class HttpClient {
  readonly #base: URL;
  readonly #agent = new http.Agent({ keepAlive: true });

  constructor(url: string) {
    this.#base = new URL(url);
  }

  send({ method, path, payload, headers }: MutatedRequest): Promise<Answer> {
    return new Promise((resolve) => {
      const { hostname, port } = this.#base;
      const hasBody = payload.length > 0;
      const request = http.request(
        {
          ...{ hostname, port, method, path, agent: this.#agent },
          headers: hasBody ? { ...headers, "content-length": payload.length } : {},
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("error", (error) =>
            resolve(result(`the answer broke off: ${error.message}`)),
          );
          response.on("end", () => {
            const contentType = response.headers["content-type"] ?? "";
            resolve(readReply(response.statusCode ?? 0, contentType, text));
          });
        },
      );
      request.setTimeout(DEADLINE_MS, () => request.destroy(new Error("no answer in time")));
      request.on("error", (error) => resolve(refusal(error.message)));
      request.end(hasBody ? payload : undefined);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** One socket, one frame at a time; opened again after a frame that closes it. */
export class SocketClient {
  readonly #url: string;
  #socket: WebSocket | undefined;

  constructor(url: string) {
    this.#url = `${url.replace(/^http/, "ws")}/v1/responses`;
  }

  async send({ payload, isBinary }: MutatedRequest): Promise<Answer> {
    const socket = await this.#open();
    return await new Promise((resolve) => {
      const settle = (answer: Answer): void => {
        clearTimeout(timer);
        socket.removeAllListeners();
        socket.on("error", () => undefined);
        resolve(answer);
      };
      const timer = setTimeout(() => settle(refusal("no answer in time")), DEADLINE_MS);
      socket.on("message", (data) => {
        const answer = readFrame(String(data));
        if (answer !== undefined) settle(answer);
      });
      socket.on("error", (error) => settle(refusal(error.message)));
      socket.on("close", (code, reason) => {
        const isRefusal = REFUSING_CLOSES.has(code);
        settle(refusal(isRefusal ? undefined : `closed with ${code} ${String(reason)}`));
      });
      socket.send(payload, { binary: isBinary });
    });
  }

  close(): void {
    this.#socket?.terminate();
  }

  async #open(): Promise<WebSocket> {
    if (this.#socket?.readyState === WebSocket.OPEN) return this.#socket;
    this.#socket?.terminate();
    const socket = new WebSocket(this.#url, { maxPayload: 0 });
    this.#socket = socket;
    await new Promise((resolve, reject) => {
      socket.once("open", resolve).once("error", reject);
    });
    return socket;
  }
}

/** undefined: more is to come. */
function readFrame(text: string): Answer | undefined {
  const event = parseObject(text);
  if (event === undefined) return refusal(`a frame that is no JSON: ${text.slice(0, 200)}`);
  if (event.type === "error") {
    const hasStatus = typeof event.status === "number";
    return refusal(hasStatus ? faultOfError(event.error, false) : "an error without a status");
  }
  if (event.type === "response.steer.failed") return refusal(undefined);
  return TERMINAL.test(String(event.type)) ? result(faultOfEvent(event)) : undefined;
}
