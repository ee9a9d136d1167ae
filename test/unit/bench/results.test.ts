import { describe, expect, test } from "vitest";
import { hasPrefix, planOf, prompt } from "../../../bench/engine/plan.mjs";
import { targetOf } from "../../../bench/engine/targets.mjs";
import { judged, machineKind, median, quantile, withRow } from "../../../bench/results.mjs";

const cpuinfo = (...flags: readonly string[]) => `processor\t: 0\nflags\t\t: ${flags.join(" ")}\n`;
const spreadOf = (median: number) => ({ median, min: median, max: median });

describe("the kind of machine", () => {
  test("is told by the flags that targets are stated for", () => {
    expect(machineKind(cpuinfo("avx2", "avx512_vnni", "amx_tile", "amx_int8"))).toBe("amx");
    expect(machineKind(cpuinfo("avx2", "avx512_vnni"))).toBe("avx512");
    expect(machineKind(cpuinfo("avx2", "avx512f"))).toBe("other");
    expect(machineKind("no flags at all")).toBe("other");
  });
});

describe("targets", () => {
  test("a rate has one with AMX, and another one without, which holds AVX2 too", () => {
    expect(targetOf("prefill/smollm2-q4_1/t2", "avx512")).toBe(6);
    expect(targetOf("prefill/smollm2-q4_1/t2", "amx")).toBe(2.3);
    expect(targetOf("prefill/smollm2-q4_1/t2", "other")).toBe(6);
  });

  test("a row at depth 512 has not the target of the shallow one", () => {
    expect(targetOf("decode/smollm2-q4_1/t1/s16", "avx512")).toBe(7);
    expect(targetOf("decode/smollm2-q4_1/t1/s16/d512", "avx512")).toBe(4.5);
  });

  test("int8 rows have none", () => {
    expect(targetOf("prefill/smollm2-q4_1/t1/int8", "avx512")).toBeUndefined();
  });

  test("counts and sizes have one on every machine", () => {
    expect(targetOf("shared-prefix/smollm2-q4_1", "other")).toBe(880);
    expect(targetOf("weights/gemma-q4_k_m", "other")).toBe(1.6);
    expect(targetOf("weights/llama1b-q4_k_m", "amx")).toBe(1.35);
  });
});

describe("a row is judged", () => {
  test("by its ratio to the peer when it is a rate", () => {
    const row = { unit: "tok/s", ours: spreadOf(10), ratio: spreadOf(1.9) };
    expect(judged(row, 1.8)).toMatchObject({ target: 1.8, met: true });
    expect(judged(row, 2)).toMatchObject({ target: 2, met: false });
  });

  test("by what ours took when it is a cost", () => {
    const row = { unit: "x of 1", ours: spreadOf(1.3), peer: spreadOf(2) };
    expect(judged(row, 1.4)).toMatchObject({ met: true });
    expect(judged(row, 1.2)).toMatchObject({ met: false });
  });

  test("not at all without a target", () => {
    const row = { unit: "tok/s", ours: spreadOf(10) };
    expect(judged(row, undefined)).toBe(row);
  });
});

test("a row that is measured again takes the old one's place", () => {
  const rows = [
    { id: "a", n: 1 },
    { id: "b", n: 1 },
  ];
  expect(withRow(rows, { id: "a", n: 2 })).toEqual([
    { id: "a", n: 2 },
    { id: "b", n: 1 },
  ]);
  expect(withRow(rows, { id: "c", n: 2 }).map(({ id }) => id)).toEqual(["a", "b", "c"]);
});

test("the median of an even number of samples lies between the middle two", () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

test("a percentile is a sample that so many lie at or below", () => {
  const samples = Array.from({ length: 200 }, (_, i) => 200 - i);
  expect(quantile(samples, 0.5)).toBe(100);
  expect(quantile(samples, 0.99)).toBe(198);
  expect(quantile([7], 0.99)).toBe(7);
});

test("a prefix of row ids ends in front of a number or behind it", () => {
  expect(hasPrefix("decode/smollm2-q4_1/t1/s1", "decode/smollm2-q4_1/t1/s1")).toBe(true);
  expect(hasPrefix("decode/smollm2-q4_1/t1/s1/d4096", "decode/smollm2-q4_1/t1/s1")).toBe(true);
  expect(hasPrefix("decode/smollm2-q4_1/t1/s16", "decode/smollm2-q4_1/t1/s1")).toBe(false);
  expect(hasPrefix("decode/smollm2-q4_1/t1/s16", "decode/smollm2")).toBe(true);
  expect(hasPrefix("decode/smollm2-q4_1/t1/s16", "")).toBe(true);
});

describe("the plan", () => {
  const ids = (model: string) => planOf(model, [1, 2]).map(({ id }) => id);

  test("has each row once", () => {
    const all = ["smollm2-q4_1", "gemma-q4_k_m", "llama1b-q4_0"].flatMap(ids);
    expect(new Set(all).size).toBe(all.length);
  });

  test("has every row that a target is stated for", () => {
    const all = ["smollm2-q4_1", "gemma-q4_k_m", "llama1b-q4_0", "llama1b-q4_k_m"].flatMap(ids);
    const targets = all.filter((id) => targetOf(id, "avx512") !== undefined);
    expect(targets).toEqual(
      expect.arrayContaining([
        "decode/smollm2-q4_1/t2/s16/d512",
        "decode/smollm2-q4_1/t1/s1/d4096",
        "decode/gemma-q4_k_m/t1/s16",
        "prefill/llama1b-q4_k_m/t1",
        "verify/smollm2-q4_1/t1",
        "shared-prefix/smollm2-q4_1",
        "start/smollm2-q4_1/t1",
        "busy-core/smollm2-q4_1/t2",
        "weights/gemma-q4_k_m",
      ]),
    );
  });

  test("repeats no prompt at the same time", () => {
    expect(prompt(8, 0)).not.toEqual(prompt(8, 1));
  });
});
