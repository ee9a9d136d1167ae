/**
 * What one WebSocket sends: frames, and the events of its responses, merged while the client is behind.
 * Watches the backlog of both.
 */
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { OutputFlow } from "../base/output-flow.ts";
import type { ApiError } from "../protocol/api-error.ts";
import type { ResponseEvent } from "../protocol/responses-types.ts";
import { Backlog, DeltaMerger } from "./backlog.ts";
import { errorFrame } from "./error-reply.ts";
import type { GatewayLimits } from "./gateway-options.ts";

export interface SocketWriterOptions {
  readonly socket: WebSocket;
  /** The TCP socket, for corking and for the bytes that `socket` has queued. */
  readonly transport: Socket;
  readonly limits: GatewayLimits;
  /** Called once, when the client is too slow. */
  readonly onOverflow: () => void;
}

/** Events of one response on their way to the socket. */
export interface EventSink {
  push(event: ResponseEvent): void;
  /** Number of the next event in the numbering of the one who pushes. */
  readonly nextSequenceNumber: number;
  end(): void;
}

export class SocketWriter {
  readonly #socket: WebSocket;
  readonly #transport: Socket;
  readonly #mergers = new Set<DeltaMerger>();
  readonly #backlog: Backlog;
  #isCorked = false;

  constructor({ socket, transport, limits, onOverflow }: SocketWriterOptions) {
    this.#socket = socket;
    this.#transport = transport;
    this.#backlog = new Backlog({
      limits,
      bufferedBytes: () => socket.bufferedAmount + this.#heldBytes,
      onOverflow,
    });
    transport.on("drain", () => {
      this.#backlog.reset();
      for (const merger of this.#mergers) merger.flush();
    });
    socket.on("ping", () => this.#backlog.check()); // its answer was queued
  }

  get flow(): OutputFlow {
    return this.#backlog.flow;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  send(frame: object): void {
    if (!this.isOpen) return;
    this.#cork();
    this.#socket.send(JSON.stringify(frame));
    this.#backlog.check();
  }

  sendError(error: ApiError, streamId?: string): void {
    this.send(errorFrame(error, streamId));
  }

  /** `streamId`: the lane that every event names. */
  openEvents(streamId: string | undefined): EventSink {
    const merger = new DeltaMerger(
      () => this.#backlog.isCongested,
      (event) => this.send(streamId === undefined ? event : { ...event, stream_id: streamId }),
    );
    this.#mergers.add(merger);
    return {
      push: (event) => {
        merger.push(event);
        this.#backlog.check();
      },
      get nextSequenceNumber() {
        return merger.nextSequenceNumber;
      },
      end: () => this.#mergers.delete(merger),
    };
  }

  /** The socket is gone. */
  close(): void {
    this.#backlog.reset();
  }

  /** Frames of one tick leave in one packet. */
  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#transport.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      this.#transport.uncork();
    });
  }

  get #heldBytes(): number {
    let bytes = 0;
    for (const merger of this.#mergers) bytes += merger.heldBytes;
    return bytes;
  }
}
