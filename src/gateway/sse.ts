/**
 * Server-sent events on a hijacked reply: headers with the first event, writes of one tick in one
 * packet, back-pressure by `Backlog`. Knows framing only, not what the events mean.
 */
import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { OutputFlow } from "../base/output-flow.ts";
import { Backlog } from "./backlog.ts";
import type { GatewayLimits } from "./gateway-options.ts";

const SSE_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
} as const;

/** Data of the last event, where a stream has one that says so. */
export const DONE = "[DONE]";

export interface SseStreamOptions {
  readonly limits: GatewayLimits;
  /** Of text that waits for the client to take what was queued. */
  readonly heldBytes: () => number;
  /** The client has taken what was queued. */
  readonly onDrain: () => void;
  /** Silence after which a comment line is sent, again and again; undefined: never. */
  readonly commentAfterMs?: number;
}

export class SseStream {
  readonly #reply: FastifyReply;
  readonly #raw: ServerResponse;
  readonly #backlog: Backlog;
  readonly #options: SseStreamOptions;
  #silenceTimer: NodeJS.Timeout | undefined;
  #isOpen = false;
  #isCorked = false;

  constructor(reply: FastifyReply, options: SseStreamOptions) {
    this.#reply = reply;
    this.#raw = reply.raw;
    this.#options = options;
    this.#backlog = new Backlog({
      limits: options.limits,
      bufferedBytes: () => this.#raw.writableLength + options.heldBytes(),
      onOverflow: () => this.#raw.destroy(),
    });
  }

  /** Until then an error can still be an ordinary HTTP error. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Paused while the client does not keep up. */
  get flow(): OutputFlow {
    return this.#backlog.flow;
  }

  get isCongested(): boolean {
    return this.#backlog.isCongested;
  }

  /** Call when more text is held back. */
  checkBacklog(): void {
    this.#backlog.check();
  }

  /** Sends the headers, as the first event does otherwise. Idempotent. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#reply.hijack();
    this.#raw.on("drain", () => {
      this.#backlog.reset();
      this.#options.onDrain();
    });
    this.#raw.on("close", () => this.#stopTimers());
    // Headers that hooks have set (request id, CORS) are on the reply, not on the raw response.
    this.#raw.writeHead(200, { ...(this.#reply.getHeaders() as object), ...SSE_HEADERS });
  }

  /** `name` is the `event:` line; Chat Completions chunks have none. */
  send(data: unknown, name?: string): void {
    this.sendText(JSON.stringify(data), name);
  }

  sendText(data: string, name?: string): void {
    this.#write(name === undefined ? `data: ${data}\n\n` : `event: ${name}\ndata: ${data}\n\n`);
  }

  end(): void {
    this.#stopTimers();
    if (this.#isOpen && !this.#raw.destroyed) this.#raw.end();
  }

  #write(text: string): void {
    if (this.#raw.destroyed) return;
    this.open();
    this.#cork();
    this.#raw.write(text);
    this.#backlog.check();
    this.#watchSilence();
  }

  /** Comment lines keep clients and proxies alive that know no keepalive event. */
  #watchSilence(): void {
    const { commentAfterMs } = this.#options;
    if (commentAfterMs === undefined) return;
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => this.#write(": keepalive\n\n"), commentAfterMs);
  }

  #stopTimers(): void {
    this.#backlog.reset();
    clearTimeout(this.#silenceTimer);
  }

  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#raw.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      this.#raw.uncork();
    });
  }
}
