import { expect, test } from "vitest";
import { costTable, machineSection, missed, rateTable } from "../../../bench/report/markdown.mjs";

const spreadOf = (median: number) => ({ median, min: median, max: median });

function rate(id: string, ours: number, ratio: number, more = {}) {
  return { id, unit: "tok/s", ours: spreadOf(ours), ratio: spreadOf(ratio), ...more };
}

test("a workload is one line, with its thread counts and int8 beside each other", () => {
  const rows = [
    rate("prefill/smollm2-q4_1/t1", 90.84, 1.242, { target: 6, met: false }),
    rate("prefill/smollm2-q4_1/t1/int8", 100, 1.5),
    rate("decode/smollm2-q4_1/t1/s8/d512", 20, 3.456),
    rate("prefill/smollm2-q4_1/t2", 165, 1.16, { target: 6, met: false, disturbed: true }),
  ];
  expect(rateTable(rows).split("\n")).toEqual([
    "| tokens a second | 1T | ratio | int8 ratio | 2T | ratio | int8 ratio | target |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    "| prefill 512, smollm2-q4_1 | 90.8 | 1.24x missed | 1.5x | 165 | 1.16x missed† |  | 6x |",
    "| decode, 8 streams together at depth 512, smollm2-q4_1 | 20 | 3.46x |  |  |  |  |  |",
  ]);
});

test("costs show their bound and the peer's where it has one", () => {
  const rows = [
    { id: "verify/m/t1", unit: "x of 1", ours: spreadOf(1.3), peer: spreadOf(2) },
    { id: "weights/m", unit: "x of 1", ours: spreadOf(1.5), target: 1.1, met: false },
    { id: "gaps/m/t2/p99-steps", unit: "steps", ours: spreadOf(1) },
    rate("prefill/m/t1", 1, 1),
  ];
  expect(costTable(rows, { title: "peer", from: "peer" }).split("\n").slice(2)).toEqual([
    "| 4 tokens in one pass, of 1 token, m, 1T | 1.3x | 2x |  |",
    "| memory for weights, of the file, m | 1.5x |  | <= 1.1x missed |",
    "| tokens of chats beside long prompts, p99 gap | 1 steps |  |  |",
  ]);
  expect(missed(rows)).toEqual(["weights/m"]);
});

test("a machine's section has its fidelity and explains the mark of disturbed rows", () => {
  const engine = {
    machine: { cpu: "A CPU", cores: 2, isa: "avx2" },
    peer: { name: "peer", version: "1" },
    rows: [rate("prefill/m/t1", 1, 1, { disturbed: true })],
  };
  const fidelity = {
    peer: { name: "float32" },
    rows: [
      { id: "top-1/m", unit: "%", ours: { ...spreadOf(99.9), n: 64 }, target: 99.5, met: true },
      { id: "top-1/m/int8", unit: "%", ours: { ...spreadOf(96), n: 64 } },
    ],
  };
  const section = machineSection(engine, fidelity);
  expect(section).toContain("**A CPU, 2 cores, avx2.** Ratios are ours over peer 1.");
  expect(section).toContain("Against float32, 64 tokens of text:");
  expect(section).toContain("| same most likely token, m | 99.9 % | 96 % | >= 99.5 % |");
  expect(section).toMatch(/† measured while other processes took the cores\.$/);
  expect(machineSection(engine, undefined)).not.toContain("float32");
});
