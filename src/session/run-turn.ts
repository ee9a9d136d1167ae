/**
 * Runs one generating response: submits the prompt, turns engine events into wire events, ends with
 * exactly one terminal event and returns what the next turn needs. A request that the engine
 * refuses at once is rejected before `response.created`; the client then gets a plain error.
 */
import { EngineError, type TurnEvent } from "../engine/endpoint.ts";
import type { ApiError } from "../protocol/api-error.ts";
import { engineApiError, mapEngineError } from "../protocol/engine-error-map.ts";
import type { ResponseEvent, Usage } from "../protocol/responses-types.ts";
import { outputToInput } from "./context-items.ts";
import { type EngineRun, runOnEngine } from "./engine-run.ts";
import { LiveSequence } from "./lane-state.ts";
import { missReason } from "./miss-reason.ts";
import { ResponseEmitter } from "./response-emitter.ts";
import { usageOf } from "./response-object.ts";
import { TokenStopwatch } from "./token-stopwatch.ts";
import {
  engineOptions,
  laneOf,
  parentSequence,
  type Turn,
  type TurnDependencies,
  type TurnOutcome,
} from "./turn.ts";

/**
 * The engine says "queued" or "admitted" within this, or refuses. After it, `response.created` goes
 * out alone: a first prefill step or an awaited warmup takes long.
 */
export const START_GRACE_MS = 50;

export async function runTurn(
  turn: Turn,
  dependencies: TurnDependencies,
  emit: (event: ResponseEvent) => void,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const { endpoint, clock } = dependencies;
  const emitter = emitterOf(turn, dependencies, emit);
  const tooLong = contextError(turn, dependencies);
  if (tooLong) return rejectPrompt(turn, emitter, tooLong, dependencies);
  const stopwatch = new TokenStopwatch(turn.context, dependencies);
  const onEvent = (event: TurnEvent) => {
    if (signal.aborted) return;
    if (event.type === "queued") emitter.queued();
    else if (event.type === "admitted") emitter.inProgress();
    else {
      emitter.push(event.events);
      stopwatch.mark();
    }
  };
  const cancelGrace = clock.schedule(START_GRACE_MS, () => emitter.created());
  try {
    const options = engineOptions(turn, dependencies);
    const parent = parentSequence(turn);
    const run = await runOnEngine(endpoint, turn.prompt, options, parent, onEvent, signal);
    return settle(turn, run, emitter, dependencies, signal);
  } catch (error) {
    if (signal.aborted) return abandon(emitter, dependencies);
    return fail(turn, error, emitter, dependencies);
  } finally {
    cancelGrace();
  }
}

export function emitterOf(
  turn: Turn,
  { modelId, clock }: TurnDependencies,
  emit: (event: ResponseEvent) => void,
): ResponseEmitter {
  const { responseId: id, request } = turn;
  const { transport } = turn.context;
  const identity = { id, createdAt: clock.unixSeconds(), model: modelId, transport, request };
  return new ResponseEmitter(identity, clock, emit);
}

/** The prompt and one more token must fit. */
export function contextError(turn: Turn, { endpoint }: TurnDependencies): ApiError | undefined {
  const numTokens = turn.prompt.tokens.length;
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

export function usageOfRun(turn: Turn, run: EngineRun): Usage {
  const { result, wasReleased } = run;
  const { cachedTokens, liveHit } = result;
  const { parent, prompt } = turn;
  return usageOf({
    inputTokens: prompt.tokens.length,
    cachedTokens,
    outputTokens: result.tokens.length,
    missReason: missReason({ parent, prompt, cachedTokens, liveHit, wasReleased }),
  });
}

function settle(
  turn: Turn,
  run: EngineRun,
  emitter: ResponseEmitter,
  dependencies: TurnDependencies,
  signal: AbortSignal,
): TurnOutcome {
  const { result } = run;
  const { endpoint, metrics } = dependencies;
  const usage = usageOfRun(turn, run);
  if (result.finish === "aborted" || signal.aborted) {
    if (result.sequence) endpoint.release(result.sequence);
    metrics.recordRun(turnMeasures(turn, run, usage));
    if (signal.aborted) return abandon(emitter, dependencies);
    throw new EngineError("ERR_INTERNAL", "the engine aborted a turn that nobody cancelled");
  }
  const isCapped = result.finish === "length";
  const response = isCapped ? emitter.reachedTokenCap(usage) : emitter.completed(usage);
  metrics.recordRun(turnMeasures(turn, run, usage));
  metrics.recordFinish(isCapped ? "length" : "stop");
  const lane = laneOf(turn, {
    items: [...turn.items, ...outputToInput(response.output)],
    tokens: turn.prompt.tokens.append(result.tokens),
    generation: emitter.output.hasDroppedCall ? "cut" : "whole",
    sequence: new LiveSequence(endpoint, result.sequence, turn.parent?.sequence.workerId),
  });
  return { response, lane };
}

function abandon(emitter: ResponseEmitter, { metrics }: TurnDependencies): TurnOutcome {
  metrics.recordFinish("abort");
  return { response: emitter.abandoned(), lane: undefined };
}

function fail(
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
export function refusal(error: unknown): ApiError {
  return engineApiError(...codeAndMessage(error));
}

function codeAndMessage(error: unknown): [code: string, message: string] {
  if (error instanceof EngineError) return [error.code, error.message];
  return ["ERR_INTERNAL", error instanceof Error ? error.message : String(error)];
}

export function turnMeasures(turn: Turn, run: EngineRun, usage: Usage) {
  const { result } = run;
  return {
    transport: turn.context.transport,
    promptTokens: usage.input_tokens,
    cachedTokens: result.cachedTokens,
    cacheTier: result.liveHit ? ("live" as const) : ("device" as const),
    preemptedTokens: result.preemptedTokens,
    outputTokens: result.tokens.length,
    renderedTokens: turn.prompt.tokens.length,
    tokenizedTokens: turn.prompt.numTokenizedTokens,
    missReason: usage.input_tokens_details.miss_reason,
  };
}
