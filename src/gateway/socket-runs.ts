/**
 * The requests of one WebSocket while they run. Each ends in exactly one way: a terminal event, an error
 * frame, or the socket's end. Knows which of them a `response.cancel` means.
 */
import type { Logger } from "pino";
import { acceptedOf } from "../protocol/api-error.ts";
import type {
  ResponseEvent,
  ResponseObject,
  ResponsesRequest,
} from "../protocol/responses-types.ts";
import type { ConnectionState, TurnContext } from "../session/session-types.ts";
import { invalidKey } from "./access.ts";
import type { Caller } from "./caller.ts";
import type { CreateFrame } from "./client-frame.ts";
import { toApiError } from "./error-reply.ts";
import { interruptionEvent } from "./interrupted-response.ts";
import type { LaneEntry } from "./lane-queue.ts";
import { requireModel } from "./model-lookup.ts";
import type { ServiceState } from "./service-state.ts";
import type { SocketWriter } from "./socket-writer.ts";

export interface QueuedRequest extends LaneEntry, CreateFrame {
  /** `performance.now()` when its frame was complete. */
  readonly receivedMs: number;
  /** Aborted by a `response.cancel`; the client still gets a terminal event. */
  readonly cancellation: AbortController;
}

export interface SocketRunsOptions {
  readonly writer: SocketWriter;
  readonly connection: ConnectionState;
  readonly state: ServiceState;
  readonly caller: Caller;
  readonly logger: Logger;
}

interface SocketRun {
  readonly queued: QueuedRequest;
  /** Ends it without a word: its client is gone. */
  readonly controller: AbortController;
  responseId: string | undefined;
}

export class SocketRuns {
  readonly #options: SocketRunsOptions;
  readonly #runs = new Set<SocketRun>();

  constructor(options: SocketRunsOptions) {
    this.#options = options;
  }

  onLane(streamId: string | undefined): QueuedRequest | undefined {
    return [...this.#runs].find(({ queued }) => queued.streamId === streamId)?.queued;
  }

  withId(responseId: unknown): QueuedRequest | undefined {
    return [...this.#runs].find((run) => run.responseId === responseId)?.queued;
  }

  abortAll(): void {
    for (const { controller } of this.#runs) controller.abort();
  }

  /** Never rejects. */
  async run(queued: QueuedRequest): Promise<void> {
    const { writer, state, logger } = this.#options;
    const { streamId } = queued;
    const controller = new AbortController();
    const run: SocketRun = { queued, controller, responseId: undefined };
    const events = writer.openEvents(streamId);
    this.#runs.add(run);
    state.add(controller);
    const emit = (event: ResponseEvent) => {
      if (event.type === "response.created") run.responseId = event.response.id;
      events.push(event);
    };
    try {
      const response = await this.#answer(queued, emit, controller.signal);
      const interruption = interruptionEvent(response, events.nextSequenceNumber);
      if (interruption !== undefined) events.push(interruption);
    } catch (error) {
      if (writer.isOpen) writer.sendError(toApiError(error, logger), streamId);
    } finally {
      state.remove(controller);
      this.#runs.delete(run);
      events.end();
    }
  }

  /** @throws {ApiError} before the first event */
  async #answer(
    queued: QueuedRequest,
    emit: (event: ResponseEvent) => void,
    signal: AbortSignal,
  ): Promise<ResponseObject> {
    const { state, caller, logger } = this.#options;
    const session = state.requireSession();
    if (caller.isRevoked) throw invalidKey("The API key was revoked");
    const release = caller.admit();
    try {
      const request = acceptedOf(queued.request);
      requireModel(session, caller, request.model);
      const context = this.#contextOf(queued);
      const response = await session.createResponse(request, context, emit, signal);
      logTurn(logger, request, response, queued);
      return response;
    } finally {
      release();
    }
  }

  #contextOf({ streamId, receivedBytes, receivedMs, cancellation }: QueuedRequest): TurnContext {
    const { caller, writer, connection } = this.#options;
    return {
      tenant: caller.tenant,
      onPrefill: (uncachedTokens) => caller.chargeTokens(uncachedTokens),
      transport: "ws",
      flow: writer.flow,
      connection,
      ...(streamId !== undefined && { streamId }),
      receivedBytes,
      receivedMs,
      cancellation: cancellation.signal,
    };
  }
}

/** Enough to see a chain: warmup, continuation or full history, and what it cost the wire. */
function logTurn(
  logger: Logger,
  request: ResponsesRequest,
  response: ResponseObject,
  { receivedBytes, receivedMs }: QueuedRequest,
): void {
  const isContinuation = request.previousResponseId !== null;
  const durationMs = Math.round(performance.now() - receivedMs);
  const facts = { generate: request.generate, isContinuation, receivedBytes, durationMs };
  logger.debug({ id: response.id, status: response.status, ...facts }, "websocket response");
}
