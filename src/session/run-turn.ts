/**
 * Runs one generating response: submits the prompt, turns engine events into wire events, ends with
 * exactly one terminal event and returns what the next turn needs. A request that the engine
 * refuses at once is rejected before `response.created`; the client then gets a plain error.
 */
import { joinAborts } from "../base/joined-abort.ts";
import { EngineError, type TurnEvent } from "../engine/endpoint.ts";
import type { Usage } from "../protocol/responses-types.ts";
import { outputToInput } from "./context-items.ts";
import { type EngineRun, runOnEngine } from "./engine-run.ts";
import type { ResponseEmitter } from "./response-emitter.ts";
import { sumOfUsage } from "./response-object.ts";
import {
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
import { TurnStopwatch } from "./turn-stopwatch.ts";

export async function runTurn(
  turn: Turn,
  dependencies: TurnDependencies,
  emitter: ResponseEmitter,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const { endpoint, clock } = dependencies;
  const tooLong = contextError(turn, dependencies);
  if (tooLong) return rejectPrompt(turn, emitter, tooLong, dependencies);
  const joined = turn.cancellation && joinAborts([signal, turn.cancellation]);
  const stop = joined?.signal ?? signal;
  const stopwatch = new TurnStopwatch(turn.context, dependencies);
  const onEvent = (event: TurnEvent) => {
    if (stop.aborted) return;
    if (event.type === "queued") emitter.queued();
    else if (event.type === "admitted") {
      turn.context.onPrefill?.(event.promptTokens - event.cachedTokens);
      emitter.inProgress();
      if (turn.leadingText) emitter.push([{ type: "text", delta: turn.leadingText }]);
    } else {
      stopwatch.delivery(() => emitter.push(event.events));
      stopwatch.mark();
    }
  };
  const cancelGrace = clock.schedule(START_GRACE_MS, () => emitter.created());
  try {
    const options = engineOptions(turn, dependencies);
    const parent = parentSequence(turn);
    const { flow } = turn.context;
    stopwatch.submitted();
    const run = await runOnEngine(endpoint, turn.prompt, options, parent, onEvent, stop, flow);
    return stopwatch.delivery(() => settle(turn, run, emitter, dependencies, signal));
  } catch (error) {
    if (signal.aborted) return abandon(emitter, dependencies);
    if (stop.aborted) return cancel(turn, emitter, dependencies, turn.earlierUsage);
    return failTurn(turn, error, emitter, dependencies);
  } finally {
    cancelGrace();
    joined?.detach();
  }
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
  const measured = usageOfRun(turn, run);
  const usage = sumOfUsage(turn.earlierUsage, measured);
  if (result.finish === "aborted" || signal.aborted || turn.cancellation?.aborted) {
    if (result.sequence) endpoint.release(result.sequence);
    metrics.recordRun(turnMeasures(turn, run, measured));
    if (signal.aborted) return abandon(emitter, dependencies);
    if (turn.cancellation?.aborted) return cancel(turn, emitter, dependencies, usage);
    throw new EngineError("ERR_INTERNAL", "the engine aborted a turn that nobody cancelled");
  }
  const isCapped = result.finish === "length";
  const response = isCapped ? emitter.reachedTokenCap(usage) : emitter.completed(usage);
  metrics.recordRun(turnMeasures(turn, run, measured));
  metrics.recordFinish(isCapped ? "length" : "stop");
  const lane = laneOf(turn, {
    items: [...turn.items, ...outputToInput(response.output)],
    tokens: turn.prompt.tokens.append(result.tokens),
    generation: emitter.output.hasDroppedCall ? "cut" : "whole",
    sequence: liveSequenceOf(turn, endpoint, result.sequence),
  });
  return { response, lane };
}

/** What was finished can be continued from; the tokens of the rest stand for nothing. */
function cancel(
  turn: Turn,
  emitter: ResponseEmitter,
  { endpoint, metrics }: TurnDependencies,
  usage: Usage | undefined,
): TurnOutcome {
  metrics.recordFinish("abort");
  const response = emitter.cancelled(usage);
  const finished = response.output.filter(
    (item) => !("status" in item) || item.status === "completed",
  );
  const lane = laneOf(turn, {
    items: [...turn.items, ...outputToInput(finished)],
    tokens: turn.prompt.tokens,
    generation: "cut",
    sequence: liveSequenceOf(turn, endpoint, undefined),
  });
  return { response, lane };
}

function abandon(emitter: ResponseEmitter, { metrics }: TurnDependencies): TurnOutcome {
  metrics.recordFinish("abort");
  return { response: emitter.abandoned(), lane: undefined };
}
