/**
 * `generate:false`: the response completes as soon as its prompt is tokenised, the prefill goes on
 * behind it, also when the client goes away. The next turn waits for the prefill and continues its
 * sequence; should the prefill fail, that turn submits its full list.
 */
import { createDeferred } from "../base/deferred.ts";
import type { SequenceRef, TurnEvent } from "../engine/endpoint.ts";
import type { ResponseEvent } from "../protocol/responses-types.ts";
import { runOnEngine } from "./engine-run.ts";
import { LiveSequence } from "./lane-state.ts";
import { missReason } from "./miss-reason.ts";
import { usageOf } from "./response-object.ts";
import {
  contextError,
  emitterOf,
  refusal,
  rejectPrompt,
  START_GRACE_MS,
  turnMeasures,
  usageOfRun,
} from "./run-turn.ts";
import {
  engineOptions,
  laneOf,
  parentSequence,
  type Turn,
  type TurnDependencies,
  type TurnOutcome,
} from "./turn.ts";

/** `shutdown` ends the prefill when the service closes; the client's own signal does not. */
export async function runWarmup(
  turn: Turn,
  dependencies: TurnDependencies,
  emit: (event: ResponseEvent) => void,
  shutdown: AbortSignal,
): Promise<TurnOutcome> {
  const emitter = emitterOf(turn, dependencies, emit);
  const tooLong = contextError(turn, dependencies);
  if (tooLong) return rejectPrompt(turn, emitter, tooLong);
  const prefill = startPrefill(turn, dependencies, shutdown);
  const cachedTokens = await prefill.cachedAtStart;
  const { parent, prompt } = turn;
  const liveHit = parent !== undefined && cachedTokens >= prompt.numKeptTokens;
  const usage = usageOf({
    inputTokens: prompt.tokens.length,
    cachedTokens,
    outputTokens: 0,
    missReason: missReason({ parent, prompt, cachedTokens, liveHit, wasReleased: false }),
  });
  const response = emitter.warmedUp(usage);
  const lane = laneOf(turn, {
    items: turn.items,
    tokens: prompt.tokens,
    generation: "none",
    sequence: new LiveSequence(dependencies.endpoint, prefill.sequence),
  });
  return { response, lane };
}

interface Prefill {
  /** Known when the engine admits the prompt; 0 when that takes longer than the grace. */
  readonly cachedAtStart: Promise<number>;
  /** Never rejects. */
  readonly sequence: Promise<SequenceRef | undefined>;
}

function startPrefill(turn: Turn, dependencies: TurnDependencies, shutdown: AbortSignal): Prefill {
  if (turn.prompt.tokens.length === 0) {
    return { cachedAtStart: Promise.resolve(0), sequence: Promise.resolve(undefined) };
  }
  const { endpoint, clock, metrics, reportError } = dependencies;
  const started = createDeferred<number>();
  const cancelGrace = clock.schedule(START_GRACE_MS, () => started.resolve(0));
  const onEvent = (event: TurnEvent) => {
    if (event.type === "admitted") started.resolve(event.cachedTokens);
    else if (event.type === "queued") started.resolve(0);
  };
  const options = engineOptions(turn, dependencies);
  const parent = parentSequence(turn);
  const sequence = runOnEngine(endpoint, turn.prompt, options, parent, onEvent, shutdown)
    .then(
      (run) => {
        started.resolve(run.result.cachedTokens);
        metrics.recordRun(turnMeasures(turn, run, usageOfRun(turn, run)));
        metrics.recordFinish(run.result.finish === "aborted" ? "abort" : "stop");
        return run.result.sequence;
      },
      (error: unknown) => {
        metrics.recordFinish("error");
        const refused = refusal(error);
        if (refused.status >= 500) reportError(error);
        started.reject(refused);
        return undefined;
      },
    )
    .finally(cancelGrace);
  return { cachedAtStart: started.promise, sequence };
}
