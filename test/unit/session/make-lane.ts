import type { LaneState } from "../../../src/session/lane-state.ts";
import { LiveSequence } from "../../../src/session/live-sequence.ts";
import { TokenList } from "../../../src/session/token-list.ts";

export function makeLane(
  options: {
    readonly responseId?: string;
    readonly tenant?: string;
    readonly numTokens?: number;
    readonly sequenceId?: number;
    /** Takes the ids of sequences that were released. */
    readonly released?: number[];
  } = {},
): LaneState {
  const {
    responseId = "resp_1",
    tenant = "a",
    numTokens = 0,
    sequenceId = 1,
    released = [],
  } = options;
  const endpoint = {
    release: (sequence: { readonly sequenceId: number }) => void released.push(sequence.sequenceId),
  };
  return {
    responseId,
    tenant,
    streamId: undefined,
    head: { instructions: null, tools: [], date: new Date(0), reasoningEffort: undefined },
    items: [],
    numPromptItems: 0,
    numPromptTokens: 0,
    tokens: TokenList.from(new Int32Array(numTokens)),
    generation: "whole",
    sequence: new LiveSequence(endpoint, { workerId: 0, sequenceId, numTokens: 0 }),
  };
}
