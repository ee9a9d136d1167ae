/**
 * One response over HTTP, for Responses and Chat Completions alike: a JSON answer, or events into
 * an SSE stream whose headers wait for the first event, so that an early error is an HTTP error.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { ApiError } from "../protocol/api-error.ts";
import { failedResponseError } from "../protocol/engine-error-map.ts";
import type {
  ResponseEvent,
  ResponseObject,
  ResponsesRequest,
} from "../protocol/responses-types.ts";
import type { SessionService, Transport, TurnContext } from "../session/session-types.ts";
import { DeltaMerger } from "./backlog.ts";
import type { GatewayLimits } from "./gateway-options.ts";
import { interruptionEvent, shuttingDown } from "./interrupted-response.ts";
import type { ServiceState } from "./service-state.ts";
import { SseStream } from "./sse.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the access hook. */
    tenant: string;
    /** `performance.now()` when the headers had arrived. */
    receivedMs: number;
  }
}

export interface ExchangeServices {
  readonly state: ServiceState;
  readonly limits: GatewayLimits;
  readonly logger: Logger;
}

export interface HttpExchange extends ExchangeServices {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The body as bytes; routes parse it themselves, so that every parse error is ours. */
export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

/** @throws {ApiError} also when the response failed: the client has seen no `response.created` */
export async function answerWithObject(
  exchange: HttpExchange,
  session: SessionService,
  parsed: ResponsesRequest,
): Promise<ResponseObject> {
  const response = await runTurn(exchange, session, parsed, "http", ignoreEvent);
  if (response.status === "cancelled") throw shuttingDown();
  if (response.status === "failed") throw failedError(response);
  return response;
}

/** A failed response in the form of an error body. */
export function failedError(response: ResponseObject): ApiError {
  const { code, message } = response.error ?? { code: "server_error", message: "It failed." };
  return failedResponseError(code, message);
}

export interface EventAnswer {
  /** "http" keeps a prompt that does not fit an HTTP error, "sse" makes it an event. */
  readonly transport: "http" | "sse";
  /** Silence before a comment line; undefined: the events have their own keepalives. */
  readonly commentAfterMs?: number;
  readonly write: (event: ResponseEvent, stream: SseStream) => void;
}

/** @throws {ApiError} before the first event */
export async function answerWithEvents(
  exchange: HttpExchange,
  session: SessionService,
  parsed: ResponsesRequest,
  answer: EventAnswer,
): Promise<void> {
  const { reply, limits } = exchange;
  const { transport, commentAfterMs, write } = answer;
  const stream = new SseStream(reply, {
    limits,
    onDrain: () => merger.flush(),
    ...(commentAfterMs === undefined ? {} : { commentAfterMs }),
  });
  const merger = new DeltaMerger(
    () => stream.isCongested,
    (event) => write(event, stream),
  );
  try {
    const emit = (event: ResponseEvent) => merger.push(event);
    const response = await runTurn(exchange, session, parsed, transport, emit);
    const interruption = interruptionEvent(response, merger.nextSequenceNumber);
    if (interruption !== undefined && !reply.raw.destroyed) merger.push(interruption);
  } catch (error) {
    if (!stream.isOpen) throw error;
    // Too late for an HTTP error; a stream without a terminal event is one that clients repeat.
    exchange.logger.error({ err: error }, "stream broke off");
  } finally {
    stream.end();
  }
}

async function runTurn(
  exchange: HttpExchange,
  session: SessionService,
  parsed: ResponsesRequest,
  transport: Transport,
  emit: (event: ResponseEvent) => void,
): Promise<ResponseObject> {
  const { request } = exchange;
  const context: TurnContext = {
    tenant: request.tenant,
    transport,
    receivedBytes: bodyOf(request).byteLength,
    receivedMs: request.receivedMs,
  };
  return session.createResponse(parsed, context, emit, signalOf(exchange));
}

/** Aborted when the client goes away before its answer is complete; drains wait for the answer. */
function signalOf({ reply, state }: HttpExchange): AbortSignal {
  if (reply.raw.destroyed) return AbortSignal.abort();
  const controller = new AbortController();
  state.add(controller);
  reply.raw.on("close", () => {
    state.remove(controller);
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

function ignoreEvent(_event: ResponseEvent): void {
  // The terminal object has everything that a client without a stream may see.
}
