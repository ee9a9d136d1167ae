import type { MissReason } from "../protocol/responses-types.ts";
import type { LaneState } from "./lane-state.ts";
import type { Prompt } from "./prompt-builder.ts";

const BLOCK_TOKENS = 16; // KV block size, design.md section 5

export interface ReuseOutcome {
  readonly parent: LaneState | undefined;
  readonly prompt: Prompt;
  readonly cachedTokens: number;
  readonly liveHit: boolean;
  /** The engine had given the parent's live sequence up. */
  readonly wasReleased: boolean;
}

/**
 * Why less than the parent's tokens was reused; undefined on a full hit. Without a parent only
 * `cold` can be told: nothing was found by content.
 */
export function missReason(outcome: ReuseOutcome): MissReason | undefined {
  const { parent, prompt, cachedTokens } = outcome;
  if (!parent) return cachedTokens === 0 ? "cold" : undefined;
  if (prompt.rewriteReason) return prompt.rewriteReason;
  if (outcome.liveHit) return undefined;
  if (outcome.wasReleased) return "released";
  // Without a live sequence whole blocks are all there is; the last kept token may lack its KV.
  const reusable = Math.max(0, prompt.numKeptTokens - 1);
  const numExpected = Math.floor(reusable / BLOCK_TOKENS) * BLOCK_TOKENS;
  return cachedTokens < numExpected ? "evicted" : undefined;
}
