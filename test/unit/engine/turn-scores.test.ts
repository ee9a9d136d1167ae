import { describe, expect, test } from "vitest";
import { TurnScores } from "../../../src/engine/turn-scores.ts";
import {
  FINISH_REASONS,
  type NativeFinish,
  type StepEvents,
} from "../../../src/native/addon-types.ts";
import type { OutputDecoder, TokenScore } from "../../../src/text/text-types.ts";

interface FakeStep {
  readonly numTokens: number;
  /** [token, log probability] of each row: the token itself, then one that is likelier. */
  readonly rows: readonly (readonly [number, number])[];
  readonly finish?: NativeFinish;
}

/** The step of the turn, in second place: another turn with a row of its own comes first. */
function read(scores: TurnScores, { numTokens, rows, finish = "none" }: FakeStep) {
  const all = [[99, -9], ...rows] as const;
  const step: Partial<StepEvents> = {
    tokenStart: Uint32Array.of(0, 1, 1 + numTokens),
    finish: Uint8Array.of(0, FINISH_REASONS.indexOf(finish)),
    logprobsStart: Uint32Array.of(0, 2, 2 * all.length),
    logprobTokens: Int32Array.from(all.flatMap(([token]) => [token, token + 1])),
    logprobs: Float64Array.from(all.flatMap(([, logprob]) => [logprob, logprob / 2])),
  };
  return scores.read(step as StepEvents, 1);
}

const row = (id: number, logprob: number): TokenScore => ({
  logprob,
  top: [{ id: id + 1, logprob: logprob / 2 }],
});

function makePrompt(tokens: readonly number[]) {
  const pushed: { ids: readonly number[]; scores: readonly TokenScore[] | undefined }[] = [];
  const decoder: OutputDecoder = {
    push(ids, scores) {
      pushed.push({ ids: [...ids], scores });
      return [{ type: "text", delta: "prompt" }];
    },
    finish: () => [],
    stopped: false,
    numTokens: 0,
    numReasoningTokens: 0,
  };
  return { pushed, prompt: { tokens: Int32Array.from(tokens), decoder } };
}

test("each token of a step has its score, and the most likely ones", () => {
  const scores = new TurnScores(1, undefined);
  const step = {
    numTokens: 2,
    rows: [
      [4, -1],
      [7, -3],
    ] as const,
  };
  expect(read(scores, step)).toEqual({ promptEvents: [], scores: [row(4, -1), row(7, -3)] });
  expect(read(scores, { numTokens: 0, rows: [] })).toEqual({ promptEvents: [], scores: [] });
});

describe("a prompt", () => {
  test("comes once, in front of the first token, when all of its rows are there", () => {
    const { prompt, pushed } = makePrompt([1, 2, 3, 4]);
    const scores = new TurnScores(1, prompt);
    const first = read(scores, {
      numTokens: 0,
      rows: [
        [2, -1],
        [3, -2],
      ],
    });
    expect(first.promptEvents).toEqual([]);
    const second = read(scores, {
      numTokens: 1,
      rows: [
        [4, -3],
        [50, -4],
      ],
    });
    expect(second.promptEvents).toEqual([{ type: "text", delta: "prompt" }]);
    expect(second.scores).toEqual([row(50, -4)]);
    const nothing = { logprob: null, top: [] };
    const promptScores = [nothing, row(2, -1), row(3, -2), row(4, -3)];
    expect(pushed).toEqual([{ ids: [1, 2, 3, 4], scores: promptScores }]);
    expect(read(scores, { numTokens: 1, rows: [[51, -1]] }).promptEvents).toEqual([]);
  });

  test("that is only read comes at its end, one that was given up does not", () => {
    for (const [finish, numEvents] of [
      ["prefilled", 1],
      ["aborted", 0],
    ] as const) {
      const scores = new TurnScores(1, makePrompt([1, 2]).prompt);
      const { promptEvents } = read(scores, { numTokens: 0, rows: [[2, -1]], finish });
      expect(promptEvents).toHaveLength(numEvents);
    }
  });
});
