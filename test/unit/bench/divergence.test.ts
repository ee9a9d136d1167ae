import { describe, expect, test } from "vitest";
import { compareRows, divergence, mostLikely } from "../../../bench/fidelity/divergence.mjs";

const logsOf = (...probabilities: readonly number[]) => Float32Array.from(probabilities, Math.log);

describe("the divergence of two distributions", () => {
  test("is the sum of p log(p / q)", () => {
    const expected = 0.5 * Math.log(0.5 / 0.25) + 0.5 * Math.log(0.5 / 0.75);
    expect(divergence(logsOf(0.5, 0.5), logsOf(0.25, 0.75))).toBeCloseTo(expected, 6);
  });

  test("is none where only a constant lies between the logits", () => {
    expect(divergence(Float32Array.of(1, 2, 3), Float32Array.of(11, 12, 13))).toBeCloseTo(0, 12);
  });

  test("stands large logits", () => {
    expect(divergence(Float32Array.of(1000, 0), Float32Array.of(1000, 0))).toBe(0);
  });
});

test("the most likely token is the first of equal ones", () => {
  expect(mostLikely(Float32Array.of(1, 3, 3))).toBe(1);
});

test("rows are compared each with its own", () => {
  const reference = Float32Array.of(0, 1, 5, 0);
  const logits = Float32Array.of(1, 0, 5, 0);
  expect(compareRows(reference, logits, 2)).toMatchObject([
    { isSameTop: false },
    { kl: 0, isSameTop: true },
  ]);
});
