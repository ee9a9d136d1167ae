/**
 * `generate:false`: the response completes as soon as its prompt is tokenised, the prefill goes on
 * behind it, also when the client goes away. The next turn waits for the prefill and continues its
 * sequence; should the prefill fail, that turn submits its full list.
 */
import { createDeferred } from "../base/deferred.ts";
import type { SequenceRef, TurnEvent, TurnResult } from "../engine/endpoint.ts";
import type { ResponseEvent, Usage } from "../protocol/responses-types.ts";
import { runOnEngine } from "./engine-run.ts";
import { LiveSequence } from "./lane-state.ts";
import { missReason } from "./miss-reason.ts";
import { usageOf } from "./response-object.ts";
import {
  emitterOf,
  engineOptions,
  laneOf,
  parentSequence,
  START_GRACE_MS,
  type Turn,
  type TurnDependencies,
  type TurnOutcome,
} from "./turn.ts";
import { contextError, refusal, rejectPrompt } from "./turn-failure.ts";
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
  const prefill = startPrefill(turn, dependencies, shutdown);
  const usage = usageAtStart(turn, await prefill.admission);
  const response = emitter.warmedUp(usage);
  const lane = laneOf(turn, {
    items: turn.items,
    tokens: turn.prompt.tokens,
    generation: "none",
    sequence: new LiveSequence(
      dependencies.endpoint,
      prefill.sequence,
      turn.parent?.sequence.workerId,
    ),
  });
  return { response, lane };
}

type Admission = Pick<TurnResult, "cachedTokens" | "liveHit">;

/** What was cached at that moment; nothing is known of a prompt that still waits. */
function usageAtStart({ parent, prompt }: Turn, admission: Admission | undefined): Usage {
  const inputTokens = prompt.tokens.length;
  if (!admission) {
    return usageOf({ inputTokens, cachedTokens: 0, outputTokens: 0, missReason: undefined });
  }
  const reason = missReason({ parent, prompt, ...admission, wasReleased: false });
  const { cachedTokens } = admission;
  return usageOf({ inputTokens, cachedTokens, outputTokens: 0, missReason: reason });
}

interface Prefill {
  /** undefined when the engine takes longer than the grace. Rejects when it refuses at once. */
  readonly admission: Promise<Admission | undefined>;
  /** Never rejects. */
  readonly sequence: Promise<SequenceRef | undefined>;
}

function startPrefill(turn: Turn, dependencies: TurnDependencies, shutdown: AbortSignal): Prefill {
  if (turn.prompt.tokens.length === 0) {
    return { admission: Promise.resolve(undefined), sequence: Promise.resolve(undefined) };
  }
  const { endpoint, clock, metrics, reportError } = dependencies;
  const admission = createDeferred<Admission | undefined>();
  const cancelGrace = clock.schedule(START_GRACE_MS, () => admission.resolve(undefined));
  const onEvent = (event: TurnEvent) => {
    if (event.type === "admitted") admission.resolve(event);
    else if (event.type === "queued") admission.resolve(undefined);
  };
  const options = engineOptions(turn, dependencies);
  const parent = parentSequence(turn);
  const sequence = runOnEngine(endpoint, turn.prompt, options, parent, onEvent, shutdown)
    .then(
      (run) => {
        admission.resolve(run.result);
        metrics.recordRun(turnMeasures(turn, run, usageOfRun(turn, run)));
        metrics.recordFinish(run.result.finish === "aborted" ? "abort" : "stop");
        return run.result.sequence;
      },
      (error: unknown) => {
        metrics.recordFinish("error");
        const refused = refusal(error);
        if (refused.status >= 500) reportError(error);
        admission.reject(refused);
        return undefined;
      },
    )
    .finally(cancelGrace);
  return { admission: admission.promise, sequence };
}
