import { expect, test } from "vitest";
import { TokenGaps } from "../../../bench/engine/token-gaps.mjs";

/** A step with `counts[id]` tokens for each request. */
function stepWith(counts: Readonly<Record<number, number>>) {
  const ids = Object.keys(counts).map(Number);
  const tokenStart = [0];
  for (const id of ids) tokenStart.push((tokenStart.at(-1) ?? 0) + (counts[id] ?? 0));
  return { requestIds: Uint32Array.from(ids), tokenStart: Uint32Array.from(tokenStart) };
}

test("gaps lie between the tokens of one watched request, in time and in steps", () => {
  const gaps = new TokenGaps();
  gaps.watch([1, 2]);
  gaps.observe(stepWith({ 1: 1, 9: 1 }), 1, 100);
  gaps.observe(stepWith({ 1: 0, 2: 1 }), 2, 110);
  gaps.observe(stepWith({ 1: 1, 2: 1 }), 3, 125);
  expect(gaps.take()).toEqual({ ms: [25, 15], steps: [2, 1] });
  expect(gaps.take()).toEqual({ ms: [], steps: [] });
});
