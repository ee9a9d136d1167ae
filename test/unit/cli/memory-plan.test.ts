import { describe, expect, test } from "vitest";
import {
  loadedBytes,
  type MemoryNeeds,
  PROCESS_BYTES,
  planKvMemory,
} from "../../../src/cli/memory-plan.ts";

const MIB = 2 ** 20;

function makeNeeds(overrides: Partial<MemoryNeeds> = {}): MemoryNeeds {
  return {
    weightBytes: 100 * MIB,
    kvMemoryBytes: "auto",
    leastKvBytes: 16 * MIB,
    numEngines: 1,
    availableBytes: 16 * 1024 * MIB,
    ...overrides,
  };
}

test("a model that is quantized at load is planned with at most 8.5 of its 16 bits", () => {
  expect(loadedBytes(1600, "none")).toBe(1600);
  expect(loadedBytes(1600, "q4_k")).toBe(850);
});

describe("planKvMemory", () => {
  test("on a roomy machine the default is 1 GiB for each engine", () => {
    expect(planKvMemory(makeNeeds())).toBe(1024 * MIB);
    expect(planKvMemory(makeNeeds({ numEngines: 4 }))).toBe(1024 * MIB);
  });

  test("in a small container the default is what is left, shared by the engines", () => {
    const availableBytes = PROCESS_BYTES + 100 * MIB + 301 * MIB;
    expect(planKvMemory(makeNeeds({ availableBytes }))).toBe(301 * MIB);
    expect(planKvMemory(makeNeeds({ availableBytes, numEngines: 2 }))).toBe(150 * MIB);
  });

  test("the default grows to what the model needs for its context", () => {
    expect(planKvMemory(makeNeeds({ leastKvBytes: 3000 * MIB }))).toBe(3000 * MIB);
    const availableBytes = PROCESS_BYTES + 100 * MIB + 2999 * MIB;
    expect(() => planKvMemory(makeNeeds({ leastKvBytes: 3000 * MIB, availableBytes }))).toThrow(
      /KV cache 3000 MiB.*; give it more memory, a smaller model or a smaller --ctx/,
    );
  });

  test("the default shrinks to what the model needs for a short context", () => {
    const availableBytes = PROCESS_BYTES + 100 * MIB + 4 * MIB;
    expect(planKvMemory(makeNeeds({ leastKvBytes: 4 * MIB, availableBytes }))).toBe(4 * MIB);
  });

  test("a given size is taken as it is when it fits", () => {
    expect(planKvMemory(makeNeeds({ kvMemoryBytes: 5 * MIB }))).toBe(5 * MIB);
  });

  test("a size that does not fit is refused with one that does", () => {
    const needs = makeNeeds({ kvMemoryBytes: 65536 * MIB, availableBytes: 1024 * MIB });
    const fitting = 1024 - 100 - PROCESS_BYTES / MIB;
    expect(() => planKvMemory(needs)).toThrow(
      new RegExp(`memory: .*100 MiB.*65536 MiB.*1024 MiB; --kv-memory ${fitting}MiB would fit`),
    );
  });

  test("a container too small for the weights is refused with all three parts", () => {
    const needs = makeNeeds({ availableBytes: 96 * MIB });
    expect(() => planKvMemory(needs)).toThrow(/memory: .*100 MiB.*16 MiB.*may use 96 MiB/);
  });
});
