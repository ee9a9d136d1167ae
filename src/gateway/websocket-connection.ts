/**
 * One WebSocket: takes frames in, queues requests in their lanes, and decides when to read, to refuse and to
 * close. Its end cancels what runs and forgets what waits. How one request is answered: `SocketRuns`.
 */
import type { Socket } from "node:net";
import type { Logger } from "pino";
import type { RawData, WebSocket } from "ws";
import { type ApiError, invalidRequest } from "../protocol/api-error.ts";
import { rateLimited } from "../protocol/engine-error-map.ts";
import type { ConnectionState, SessionService } from "../session/session-types.ts";
import type { Caller } from "./caller.ts";
import {
  type CancelFrame,
  type ClientFrame,
  type CreateFrame,
  steerRefusal,
} from "./client-frame.ts";
import { toApiError } from "./error-reply.ts";
import { FrameIntake, type ReceivedFrame } from "./frame-intake.ts";
import type { GatewayLimits } from "./gateway-options.ts";
import { watchPeer } from "./heartbeat.ts";
import { LaneQueue } from "./lane-queue.ts";
import type { RequestParser } from "./request-parser.ts";
import type { ServiceState } from "./service-state.ts";
import { type QueuedRequest, SocketRuns } from "./socket-runs.ts";
import { SocketWriter } from "./socket-writer.ts";

export const CLOSE_NORMAL = 1000;
export const CLOSE_GOING_AWAY = 1001;
const CLOSE_UNSUPPORTED_DATA = 1003;
const CLOSE_POLICY = 1008;
const CLOSE_TRY_AGAIN_LATER = 1013;

export interface WebSocketConnectionOptions {
  readonly socket: WebSocket;
  /** The TCP socket, for corking and for the bytes that `socket` has queued. */
  readonly transport: Socket;
  readonly session: SessionService;
  readonly state: ServiceState;
  readonly parser: RequestParser;
  readonly caller: Caller;
  readonly limits: GatewayLimits;
  readonly logger: Logger;
}

export class WebSocketConnection {
  readonly #options: WebSocketConnectionOptions;
  readonly #connection: ConnectionState;
  readonly #intake: FrameIntake;
  readonly #lanes: LaneQueue<QueuedRequest>;
  readonly #namedLanes = new Set<string>();
  readonly #runs: SocketRuns;
  readonly #writer: SocketWriter;
  readonly #ageTimer: NodeJS.Timeout;
  #isQueueFull = false;
  #isTooOld = false;

  constructor(options: WebSocketConnectionOptions) {
    this.#options = options;
    const { socket, transport, session, limits } = options;
    this.#connection = session.openConnection(options.caller.tenant);
    this.#lanes = new LaneQueue({
      ...limits,
      run: (queued) => this.#runs.run(queued),
      onRoom: () => {
        this.#isQueueFull = false;
        this.#fitReading();
      },
    });
    this.#intake = new FrameIntake({
      parser: options.parser,
      tenant: options.caller.tenant,
      onFrame: (frame, received) => this.#accept(frame, received),
      onError: (error, received) => this.#refuseFrame(error, received),
      onIdle: () => this.#fitReading(),
    });
    this.#writer = new SocketWriter({
      ...{ socket, transport, limits },
      onOverflow: () => this.#cutOff(CLOSE_TRY_AGAIN_LATER, "the client reads too slowly"),
    });
    this.#runs = new SocketRuns({
      ...options,
      writer: this.#writer,
      connection: this.#connection,
    });
    this.#ageTimer = setTimeout(() => this.#reachAgeLimit(), limits.maxConnectionAgeMs).unref();
    const stopHeartbeat = watchPeer(socket, limits);
    // What runs may end; what waits is refused.
    const forgetCaller = options.caller.onRevoked(() =>
      this.closeWhenIdle(CLOSE_POLICY, "the API key was revoked"),
    );
    socket.on("message", (data: RawData, isBinary) => {
      // The binary type of ws is its default, one Buffer a message.
      this.#intake.push({ payload: data as Buffer, isBinary, receivedMs: performance.now() });
      this.#fitReading();
    });
    socket.on("error", (error) => this.#onError(error));
    options.logger.debug({ tenant: options.caller.tenant }, "websocket opened");
    socket.on("close", (code) => {
      options.logger.debug({ code }, "websocket closed");
      stopHeartbeat();
      forgetCaller();
      this.#onClose();
    });
  }

  /** Closes once nothing runs; what waits or still arrives in a drain is refused with 503. */
  closeWhenIdle(code: number, reason: string): void {
    this.#lanes.whenIdle(() => this.#options.socket.close(code, reason));
  }

  terminate(): void {
    this.#options.socket.terminate();
  }

  /** While a large frame is parsed or the queue is full, what the client sends waits in its own kernel. */
  #fitReading(): void {
    const { socket } = this.#options;
    const mustPause = this.#intake.isBusy || this.#isQueueFull;
    if (mustPause === socket.isPaused) return;
    if (mustPause) socket.pause();
    else socket.resume();
  }

  #refuseFrame(error: unknown, { isBinary }: ReceivedFrame): void {
    const apiError = toApiError(error, this.#options.logger);
    if (isBinary && apiError.body.code === "invalid_json") {
      this.#options.socket.close(CLOSE_UNSUPPORTED_DATA, "binary frames must hold JSON");
    } else this.#writer.sendError(apiError);
  }

  #accept(frame: ClientFrame, { payload, receivedMs }: ReceivedFrame): void {
    const { socket } = this.#options;
    if (socket.readyState !== socket.OPEN) return;
    const { streamId } = frame;
    if (frame.type === "response.steer") {
      this.#writer.send(steerRefusal(frame));
    } else if (frame.type === "response.cancel") {
      this.#cancel(frame);
    } else if (this.#isTooOld) {
      this.#writer.sendError(this.#ageError(), streamId);
      this.closeWhenIdle(CLOSE_NORMAL, "connection age limit");
    } else if (!this.#admitLane(streamId)) {
      const { maxNamedLanes } = this.#options.limits;
      const message = `This connection has its ${maxNamedLanes} lanes; open another one.`;
      const code = "websocket_stream_limit_reached";
      this.#writer.sendError(invalidRequest(code, message, "stream_id"), streamId);
    } else if (!this.#enqueue(frame, payload.byteLength, receivedMs)) {
      this.#writer.sendError(rateLimited("Too many requests wait on this connection"), streamId);
      this.#isQueueFull = true;
      this.#fitReading();
    }
  }

  #enqueue(frame: CreateFrame, receivedBytes: number, receivedMs: number): boolean {
    const cancellation = new AbortController();
    return this.#lanes.tryAdd({ ...frame, receivedBytes, receivedMs, cancellation });
  }

  /** Without an id what runs on the lane is meant, or what comes next there. */
  #cancel({ streamId, fields }: CancelFrame): void {
    const id = fields.response_id ?? undefined;
    const onLane = () => this.#runs.onLane(streamId) ?? this.#lanes.firstWaiting(streamId);
    const meant = id === undefined ? onLane() : this.#runs.withId(id);
    if (meant) meant.cancellation.abort();
    else {
      const message = "No response that runs or waits here is meant.";
      this.#writer.sendError(
        invalidRequest("response_not_active", message, "response_id"),
        streamId,
      );
    }
  }

  #admitLane(streamId: string | undefined): boolean {
    if (streamId === undefined || this.#namedLanes.has(streamId)) return true;
    if (this.#namedLanes.size >= this.#options.limits.maxNamedLanes) return false;
    this.#namedLanes.add(streamId);
    return true;
  }

  /** `ws` has refused a frame and sent its close frame: nothing is read from this socket any more. */
  #onError(error: Error): void {
    this.#options.logger.debug({ err: error }, "websocket error");
    this.#cancelAll();
    this.#terminateSoon();
  }

  /** The close frame waits behind the backlog, so TCP is cut shortly after it. */
  #cutOff(code: number, reason: string): void {
    this.#cancelAll();
    this.#options.socket.close(code, reason);
    this.#terminateSoon();
  }

  #terminateSoon(): void {
    const { socket, limits } = this.#options;
    setTimeout(() => socket.terminate(), limits.closeGraceMs).unref();
  }

  /** What runs may end; the next request is told to open a new connection. */
  #reachAgeLimit(): void {
    this.#isTooOld = true;
    const { drainTimeoutMs } = this.#options.limits;
    const closeIdle = () => this.closeWhenIdle(CLOSE_NORMAL, "connection age limit");
    setTimeout(closeIdle, drainTimeoutMs).unref();
  }

  #ageError(): ApiError {
    const minutes = Math.round(this.#options.limits.maxConnectionAgeMs / 60_000);
    const message = `This connection reached its ${minutes} minute limit; open a new one.`;
    return invalidRequest("websocket_connection_limit_reached", message);
  }

  #cancelAll(): void {
    this.#lanes.clear();
    this.#runs.abortAll();
  }

  #onClose(): void {
    clearTimeout(this.#ageTimer);
    this.#writer.close();
    this.#cancelAll();
    this.#lanes.whenIdle(() => this.#connection.close());
  }
}
