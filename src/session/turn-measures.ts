/** A run's numbers: as the client's usage and as the metrics' measures. */
import type { RunMeasures } from "../metrics/token-counters.ts";
import type { Usage } from "../protocol/responses-types.ts";
import type { EngineRun } from "./engine-run.ts";
import { missReason } from "./miss-reason.ts";
import { usageOf } from "./response-object.ts";
import type { Turn } from "./turn.ts";

export function usageOfRun(turn: Turn, run: EngineRun): Usage {
  const { result, wasReleased } = run;
  const { cachedTokens, liveHit } = result;
  const { parent, prompt } = turn;
  return usageOf({
    inputTokens: prompt.tokens.length,
    cachedTokens,
    outputTokens: result.tokens.length,
    reasoningTokens: result.reasoningTokens,
    missReason: missReason({ parent, prompt, cachedTokens, liveHit, wasReleased }),
  });
}

export function turnMeasures(turn: Turn, run: EngineRun, usage: Usage): RunMeasures {
  const { result } = run;
  return {
    transport: turn.context.transport,
    promptTokens: usage.input_tokens,
    cachedTokens: result.cachedTokens,
    cacheTier: result.liveHit ? "live" : "device",
    preemptedTokens: result.preemptedTokens,
    outputTokens: result.tokens.length,
    renderedTokens: turn.prompt.numRenderedTokens,
    tokenizedTokens: turn.prompt.numTokenizedTokens,
    missReason: usage.input_tokens_details.miss_reason,
  };
}
