/**
 * One answer over HTTP, for Responses, Chat Completions and Completions alike: a JSON answer, or events
 * into an SSE stream whose headers wait for the first event, so that an early error is an HTTP error.
 * It is made of one response, or of several that run side by side.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { OutputFlow } from "../base/output-flow.ts";
import type { ApiError } from "../protocol/api-error.ts";
import { failedResponseError } from "../protocol/engine-error-map.ts";
import type { ResponseEvent, ResponseObject } from "../protocol/responses-types.ts";
import type { RunResponse, Transport, TurnContext } from "../session/session-types.ts";
import { DeltaMerger } from "./backlog.ts";
import type { Caller } from "./caller.ts";
import { toApiError } from "./error-reply.ts";
import type { GatewayLimits } from "./gateway-options.ts";
import { interruptionEvent, shuttingDown } from "./interrupted-response.ts";
import type { ParsedRequest, RequestForm } from "./request-forms.ts";
import type { RequestParser } from "./request-parser.ts";
import type { ServiceState } from "./service-state.ts";
import { SseStream } from "./sse.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the access hook; null for a request that did not get past it. */
    caller: Caller | null;
    /** `performance.now()` when the headers had arrived. */
    receivedMs: number;
  }
}

export interface ExchangeServices {
  readonly state: ServiceState;
  readonly parser: RequestParser;
  readonly limits: GatewayLimits;
  readonly logger: Logger;
  /** Event streams of responses end with `[DONE]`. */
  readonly sendsDone: boolean;
}

export interface HttpExchange extends ExchangeServices {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The body as bytes; routes parse it themselves, so that every parse error is ours. */
export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

/** @throws {ApiError} 400 */
export function parseBody<F extends RequestForm>(
  form: F,
  request: FastifyRequest,
  { parser }: Pick<ExchangeServices, "parser">,
): Promise<ParsedRequest<F>> {
  return parser.parse(form, bodyOf(request), callerOf(request).tenant);
}

/** Who asks, for routes: they run behind the access hook. */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new Error("the request did not pass the access hook");
  return caller;
}

export function contextOf(request: FastifyRequest, transport: Transport): TurnContext {
  const caller = callerOf(request);
  return {
    tenant: caller.tenant,
    onPrefill: (uncachedTokens) => caller.chargeTokens(uncachedTokens),
    transport,
    receivedBytes: bodyOf(request).byteLength,
    receivedMs: request.receivedMs,
  };
}

/** @throws {ApiError} also when the response failed: the client has seen no `response.created` */
export async function answerWithObject(
  exchange: HttpExchange,
  run: RunResponse,
): Promise<ResponseObject> {
  const [response] = await answerWithObjects(exchange, [run]);
  if (response === undefined) throw new Error("one run gives one response");
  return response;
}

/** @throws {ApiError} when one of them failed; the others are cancelled then */
export async function answerWithObjects(
  exchange: HttpExchange,
  runs: readonly RunResponse[],
): Promise<readonly ResponseObject[]> {
  const responses = await runAll(exchange, runs.map(rejectsFailure), "http", ignoreEvent);
  if (responses.some(({ status }) => status === "in_progress")) throw shuttingDown();
  return responses;
}

/** The same run, but its failure is an error, which cancels the other runs of its answer. */
export function rejectsFailure(run: RunResponse): RunResponse {
  return async (...where) => {
    const response = await run(...where);
    if (response.status === "failed") throw failedError(response);
    return response;
  };
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
  /** `index` is that of the response. */
  readonly write: (event: ResponseEvent, stream: SseStream, index: number) => void;
  /** Data behind the last event. */
  readonly lastData?: string;
  /** An error behind the first event; undefined: the stream just ends, and clients try again. */
  readonly writeError?: (error: ApiError, stream: SseStream) => void;
}

/** @throws {ApiError} before the first event */
export async function answerWithEvents(
  exchange: HttpExchange,
  runs: readonly RunResponse[],
  answer: EventAnswer,
): Promise<void> {
  const { reply, limits, logger } = exchange;
  const { transport, commentAfterMs, write, lastData, writeError } = answer;
  const stream: SseStream = new SseStream(reply, {
    limits,
    heldBytes: () => mergers.reduce((sum, { heldBytes }) => sum + heldBytes, 0),
    onDrain: () => {
      for (const merger of mergers) merger.flush();
    },
    ...(commentAfterMs === undefined ? {} : { commentAfterMs }),
  });
  const mergers: readonly DeltaMerger[] = runs.map(
    (_run, index) =>
      new DeltaMerger(
        () => stream.isCongested,
        (event) => write(event, stream, index),
      ),
  );
  try {
    const emit = (event: ResponseEvent, index: number) => {
      mergers[index]?.push(event);
      stream.checkBacklog();
    };
    const responses = await runAll(exchange, runs, transport, emit, stream.flow);
    for (const [index, merger] of mergers.entries()) {
      const response = responses[index] as ResponseObject;
      const interruption = interruptionEvent(response, merger.nextSequenceNumber);
      if (interruption !== undefined && !reply.raw.destroyed) merger.push(interruption);
    }
    if (lastData !== undefined) stream.sendText(lastData);
  } catch (error) {
    if (!stream.isOpen) throw error;
    // Too late for an HTTP error; a stream without a terminal event is one that clients repeat.
    logger.error({ err: error }, "stream broke off");
    writeError?.(toApiError(error, logger), stream);
  } finally {
    stream.end();
  }
}

/** Runs all of them; the first that throws cancels the others. */
async function runAll(
  exchange: HttpExchange,
  runs: readonly RunResponse[],
  transport: Transport,
  emit: (event: ResponseEvent, index: number) => void,
  flow?: OutputFlow,
): Promise<readonly ResponseObject[]> {
  const controller = controllerOf(exchange);
  const context = { ...contextOf(exchange.request, transport), ...(flow && { flow }) };
  try {
    return await Promise.all(
      runs.map((run, index) => {
        const ownContext = index === 0 ? context : { ...context, receivedBytes: 0 };
        return run(ownContext, (event) => emit(event, index), controller.signal);
      }),
    );
  } catch (error) {
    controller.abort();
    throw error;
  }
}

/** Aborts when the client goes away before its answer is complete; drains wait for the answer. */
function controllerOf({ reply, state }: HttpExchange): AbortController {
  const controller = new AbortController();
  if (reply.raw.destroyed) {
    controller.abort();
    return controller;
  }
  state.add(controller);
  reply.raw.on("close", () => {
    state.remove(controller);
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller;
}

function ignoreEvent(): void {
  // The terminal object has everything that a client without a stream may see.
}
