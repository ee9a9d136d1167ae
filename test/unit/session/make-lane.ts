import { type LaneState, LiveSequence } from "../../../src/session/lane-state.ts";
import { TokenList } from "../../../src/session/token-list.ts";
import type { RenderedText } from "../../../src/text/text-types.ts";

export function makeLane(
  options: {
    readonly responseId?: string;
    readonly tenant?: string;
    readonly text?: string;
    readonly sequenceId?: number;
    /** Takes the ids of sequences that were released. */
    readonly released?: number[];
  } = {},
): LaneState {
  const { responseId = "resp_1", tenant = "a", text = "", sequenceId = 1, released = [] } = options;
  const endpoint = {
    release: (sequence: { readonly sequenceId: number }) => void released.push(sequence.sequenceId),
  };
  return {
    responseId,
    tenant,
    streamId: undefined,
    head: { instructions: null, tools: [], date: new Date(0), reasoningEffort: undefined },
    items: [],
    promptText: text as RenderedText,
    tokens: TokenList.from(new Int32Array()),
    generation: "whole",
    sequence: new LiveSequence(endpoint, { workerId: 0, sequenceId, numTokens: 0 }),
  };
}
