import { expect, test } from "vitest";
import { CompletionLogprobsEncoder } from "../../../src/protocol/completion-logprobs.ts";
import type { TokenLogprob } from "../../../src/protocol/responses-types.ts";

function entry(
  token: string,
  logprob: number | null,
  top: Readonly<Record<string, number>> = {},
): TokenLogprob {
  const ranked = (text: string) => ({ token: text, bytes: [...Buffer.from(text)] });
  const top_logprobs = Object.entries(top).map(([text, value]) => ({
    ...ranked(text),
    logprob: value,
  }));
  return { ...ranked(token), logprob, top_logprobs };
}

test("columns have the alternatives, and the token itself where it is none of them", () => {
  const entries = [entry("The", null), entry(" sea", -3, { " end": -1, " sky": -2 })];
  expect(new CompletionLogprobsEncoder().encode(entries)).toEqual({
    tokens: ["The", " sea"],
    token_logprobs: [null, -3],
    top_logprobs: [null, { " end": -1, " sky": -2, " sea": -3 }],
    text_offset: [0, 3],
  });
});

test("offsets count code points, over the pieces of a stream", () => {
  const encoder = new CompletionLogprobsEncoder();
  expect(encoder.encode([entry("👍é", -1), entry("x", -1)])?.text_offset).toEqual([0, 2]);
  expect(encoder.encode([])).toBeNull();
  const half = { ...entry("👍", -1), bytes: [0xf0, 0x9f] };
  const otherHalf = { ...entry("👍", -1), bytes: [0x91, 0x8d] };
  expect(encoder.encode([half, otherHalf, entry("y", -1)])?.text_offset).toEqual([3, 4, 4]);
});

test("of tokens that are spelled alike the likeliest one is named", () => {
  const alike = { ...entry("a", -5), top_logprobs: [entry("a", -1), entry("a", -2)] };
  expect(new CompletionLogprobsEncoder().encode([alike])?.top_logprobs).toEqual([{ a: -1 }]);
});
