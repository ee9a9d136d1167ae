/**
 * `generate:false`: the response completes as soon as its prompt is tokenised, the prefill goes on
 * behind it, also when the client goes away. The next turn waits for the prefill and continues its
 * sequence; should the prefill fail, that turn submits its full list.
 */
import { createDeferred } from "../base/deferred.ts";
import type { SequenceRef, TurnEvent, TurnResult } from "../engine/endpoint.ts";
import type { ResponseEvent, Usage } from "../protocol/responses-types.ts";
import { type EngineRun, runOnEngine } from "./engine-run.ts";
import { missReason } from "./miss-reason.ts";
import type { ResponseEmitter } from "./response-emitter.ts";
import { usageOf } from "./response-object.ts";
import {
  emitterOf,
  engineOptions,
  laneOf,
  liveSequenceOf,
  parentSequence,
  START_GRACE_MS,
  type Turn,
  type TurnDependencies,
  type TurnOutcome,
} from "./turn.ts";
import { contextError, failTurn, rejectPrompt } from "./turn-failure.ts";
import { turnMeasures, usageOfRun } from "./turn-measures.ts";

/** `shutdown` ends the prefill when the service closes; the client's own signal does not. */
export async function runWarmup(
  turn: Turn,
  dependencies: TurnDependencies,
  emit: (event: ResponseEvent) => void,
  shutdown: AbortSignal,
): Promise<TurnOutcome> {
  const emitter = emitterOf(turn, dependencies, emit);
  const tooLong = contextError(turn, dependencies);
  if (tooLong) return rejectPrompt(turn, emitter, tooLong, dependencies);
  if (turn.prompt.tokens.length === 0) return complete(turn, emitter, dependencies, undefined);
  const prefill = startPrefill(turn, dependencies, shutdown);
  try {
    const start = await Promise.race([prefill.start, prefill.run.then(({ result }) => result)]);
    const sequence = sequenceOf(prefill.run, dependencies, shutdown);
    return complete(turn, emitter, dependencies, start, sequence);
  } catch (error) {
    return failTurn(turn, error, emitter, dependencies);
  }
}

type PrefillStart = Pick<TurnResult, "cachedTokens" | "liveHit">;

interface Prefill {
  /** What was cached; undefined when the engine takes longer than the grace to say. */
  readonly start: Promise<PrefillStart | undefined>;
  readonly run: Promise<EngineRun>;
}

function startPrefill(turn: Turn, dependencies: TurnDependencies, shutdown: AbortSignal): Prefill {
  const { endpoint, clock } = dependencies;
  const start = createDeferred<PrefillStart | undefined>();
  const cancelGrace = clock.schedule(START_GRACE_MS, () => start.resolve(undefined));
  const onEvent = (event: TurnEvent) => {
    if (event.type === "admitted") {
      turn.context.onPrefill?.(event.promptTokens - event.cachedTokens);
      start.resolve(event);
    } else if (event.type === "queued") start.resolve(undefined);
  };
  const options = engineOptions(turn, dependencies);
  const parent = parentSequence(turn);
  const run = runOnEngine(endpoint, turn.prompt, options, parent, onEvent, shutdown);
  return { start: start.promise, run: recorded(turn, run, dependencies).finally(cancelGrace) };
}

async function recorded(
  turn: Turn,
  prefill: Promise<EngineRun>,
  { metrics }: TurnDependencies,
): Promise<EngineRun> {
  const run = await prefill;
  metrics.recordRun(turnMeasures(turn, run, usageOfRun(turn, run)));
  metrics.recordFinish(run.result.finish === "aborted" ? "abort" : "stop");
  return run;
}

/** Behind the completed response a failure is the operator's to hear; the chain goes on without. */
function sequenceOf(
  run: Promise<EngineRun>,
  { metrics, reportError }: TurnDependencies,
  shutdown: AbortSignal,
): Promise<SequenceRef | undefined> {
  return run.then(
    ({ result }) => result.sequence,
    (error: unknown) => {
      metrics.recordFinish(shutdown.aborted ? "abort" : "error");
      if (!shutdown.aborted) reportError(error);
      return undefined;
    },
  );
}

function complete(
  turn: Turn,
  emitter: ResponseEmitter,
  { endpoint }: TurnDependencies,
  start: PrefillStart | undefined,
  sequence?: Promise<SequenceRef | undefined>,
): TurnOutcome {
  const response = emitter.completedUnanswered(usageAtStart(turn, start));
  const lane = laneOf(turn, {
    items: turn.items,
    tokens: turn.prompt.tokens,
    generation: "none",
    sequence: liveSequenceOf(turn, endpoint, sequence),
  });
  return { response, lane };
}

/** What was cached at that moment; nothing is known of a prompt that still waits. */
function usageAtStart({ parent, prompt }: Turn, start: PrefillStart | undefined): Usage {
  return usageOf({
    inputTokens: prompt.tokens.length,
    cachedTokens: start?.cachedTokens ?? 0,
    outputTokens: 0,
    reasoningTokens: 0,
    missReason: start && missReason({ parent, prompt, ...start, wasReleased: false }),
  });
}
