/** How a turn that cannot run, or no longer, reaches its client. */
import { EngineError } from "../engine/endpoint.ts";
import type { ApiError } from "../protocol/api-error.ts";
import { engineApiError, mapEngineError } from "../protocol/engine-error-map.ts";
import type { ResponseEmitter } from "./response-emitter.ts";
import type { Turn, TurnDependencies, TurnOutcome } from "./turn.ts";

/** The prompt and one more token must fit. */
export function contextError(
  { prompt }: Pick<Turn, "prompt">,
  { endpoint }: TurnDependencies,
): ApiError | undefined {
  const numTokens = prompt.tokens.length;
  if (numTokens < endpoint.info.context) return undefined;
  return engineApiError(
    "ERR_CONTEXT_TOO_LONG",
    `The prompt has ${numTokens} tokens, this model takes ${endpoint.info.context} with the output.`,
  );
}

/** Streams get a failed response, which clients handle better than an error. */
export function rejectPrompt(
  turn: Turn,
  emitter: ResponseEmitter,
  error: ApiError,
  { metrics }: TurnDependencies,
): TurnOutcome {
  metrics.recordFinish("error");
  if (turn.context.transport === "http") throw error;
  const { code, message } = error.body;
  return { response: emitter.failed(code ?? "server_error", message), lane: undefined };
}

/**
 * An engine failure: an event when there is a response already, else thrown.
 * @throws {ApiError}
 */
export function failTurn(
  turn: Turn,
  error: unknown,
  emitter: ResponseEmitter,
  dependencies: TurnDependencies,
): TurnOutcome {
  const { status, code, failedCode, message } = mapEngineError(...codeAndMessage(error));
  if (status >= 500) dependencies.reportError(error);
  if (!emitter.isCreated && code === "context_length_exceeded") {
    return rejectPrompt(turn, emitter, refusal(error), dependencies);
  }
  dependencies.metrics.recordFinish("error");
  if (!emitter.isCreated) throw refusal(error);
  return { response: emitter.failed(failedCode, message), lane: undefined };
}

/** An engine failure as the error of a request that never had a response. */
function refusal(error: unknown): ApiError {
  return engineApiError(...codeAndMessage(error));
}

function codeAndMessage(
  error: unknown,
): [code: string, message: string, retryAfterSeconds?: number | undefined] {
  if (error instanceof EngineError) return [error.code, error.message, error.retryAfterSeconds];
  return ["ERR_INTERNAL", error instanceof Error ? error.message : String(error)];
}
