/**
 * What is remembered of a finished response so that the next turn costs its new items only.
 * Immutable but for the live sequence, which at most one continuation takes over.
 */
import type { CallableTool, ContextItem, ReasoningEffort } from "../protocol/responses-types.ts";
import type { LiveSequence } from "./live-sequence.ts";
import type { TokenList } from "./token-list.ts";

/** What stands before the items in the prompt, and the variables that the template was given. */
export interface PromptHead {
  readonly instructions: string | null;
  readonly tools: readonly CallableTool[];
  /** Frozen when the chain starts. */
  readonly date: Date;
  readonly reasoningEffort: ReasoningEffort | undefined;
}

/** Why nothing behind a head can stay as it was when another takes its place. */
export function headDifference(
  before: PromptHead,
  next: PromptHead,
): "template" | "tools" | "instructions" | undefined {
  if (before.reasoningEffort !== next.reasoningEffort) return "template";
  const hasSameTools =
    before.tools === next.tools || JSON.stringify(before.tools) === JSON.stringify(next.tools);
  if (!hasSameTools) return "tools";
  return before.instructions === next.instructions ? undefined : "instructions";
}

/** `none`: a warmup. `cut`: part of the output was dropped, its tokens do not match its items. */
export type Generation = "none" | "whole" | "cut";

/** What the next turn of a conversation is made of, whatever was kept of its computation. */
export interface ChainState {
  readonly head: PromptHead;
  /** Effective context, output included. */
  readonly items: readonly ContextItem[];
}

export interface LaneState extends ChainState {
  readonly responseId: string;
  readonly tenant: string;
  /** WebSocket lane it ran on; undefined is the default lane. */
  readonly streamId: string | undefined;
  /** Those that the prompt showed; the output is behind them. */
  readonly numPromptItems: number;
  readonly numPromptTokens: number;
  /** Prompt and generated ids. */
  readonly tokens: TokenList;
  readonly generation: Generation;
  readonly sequence: LiveSequence;
}

/** false: only its items were kept. */
export function isLane(chain: ChainState): chain is LaneState {
  return "sequence" in chain;
}

const ITEM_BYTES = 512; // object headers and ids of an item
const TOKEN_BYTES = 12; // an id, and about eight bytes of text in the items

/** Approximate memory of a state, for the bounds of the caches. */
export function laneStateBytes({ tokens, items }: LaneState): number {
  return tokens.length * TOKEN_BYTES + (items.length + 1) * ITEM_BYTES;
}
