/**
 * The rule above speed: a greedy request gives the same logits, bit for bit, whatever ran beside it,
 * however its prompt was cut, wherever its KV came from, on each instruction-set level of this machine
 * and at one and two threads. Every level is compared with one baseline: the scalar reference, alone.
 */
import { beforeAll, describe, expect, test } from "vitest";
import {
  type DirectEngine,
  openNativeEngine,
  type TokensResult,
} from "../../src/engine/native-engine.ts";
import type { EngineOptions, IsaLevel } from "../../src/native/addon-types.ts";
import { loadAddon } from "../../src/native/load-addon.ts";
import { goldenModel } from "../fixture-goldens.ts";

const PROMPT_TOKENS = 150;
const OUTPUT_TOKENS = 20;
const LEVELS = loadAddon().probeDevices()[0]?.isaLevels ?? [];
const NO_CACHE = { enablePrefixCache: false };

/** Token ids without a pattern; the same for a seed. */
function promptOf(seed: number, length = PROMPT_TOKENS): Int32Array {
  return Int32Array.from({ length }, (_, i) => (i * 7919 + seed * 104729 + ((i * i) % 31)) % 380);
}

const request = (tokens: Int32Array) =>
  ({ tokens, maxOutputTokens: OUTPUT_TOKENS, logits: "sampled" }) as const;

/** Tokens and the raw bits of every sampled row. */
function bitsOf(result: TokensResult): { tokens: number[]; bits: Buffer } {
  const { buffer, byteOffset, byteLength } = result.logits;
  return { tokens: [...result.tokens], bits: Buffer.from(buffer, byteOffset, byteLength) };
}

function expectSame(result: TokensResult, baseline: TokensResult): void {
  const [got, want] = [bitsOf(result), bitsOf(baseline)];
  expect(got.tokens).toEqual(want.tokens);
  expect(got.bits.equals(want.bits), "logits are the same bits").toBe(true);
}

for (const [model, variant, kvType] of [
  ["llama-k", "Q4_K_M", "f16"],
  ["qwen2", "Q4_1", "f16"],
  ["qwen2", "Q5_0", "f16"],
  ["llama3-rope", "Q8_0", "f16"],
  ["llama3-rope", "Q8_0", "q8_0"],
  ["llama3-rope", "Q8_0", "f32"],
] as const) {
  describe(`${model} ${variant}, ${kvType} KV`, () => {
    let modelPath = "";
    let baseline: TokensResult;
    const open = (options: Partial<EngineOptions>): Promise<DirectEngine> =>
      openNativeEngine({ modelPath, kvType, ...options });

    beforeAll(async () => {
      modelPath = goldenModel(model, variant)?.unpack() ?? "";
      const engine = await open({ isa: "ref", ...NO_CACHE });
      baseline = await engine.runTokens(request(promptOf(1)));
      await engine.close();
      expect(baseline.logits.length).toBe(OUTPUT_TOKENS * engine.info.vocab);
    });

    const machines = LEVELS.flatMap((isa: IsaLevel) => [
      { isa, threads: 1 },
      { isa, threads: 2 },
    ]);
    describe.each(machines)("$isa, $threads thread(s)", (machine) => {
      test("alone", async () => {
        const engine = await open({ ...machine, ...NO_CACHE });
        expectSame(await engine.runTokens(request(promptOf(1))), baseline);
        await engine.close();
      });

      test("batched with seven others", async () => {
        const engine = await open({ ...machine, ...NO_CACHE });
        const others = [2, 3, 4, 5].map((s) => engine.start(request(promptOf(s, 40 + 17 * s))));
        const mine = engine.start(request(promptOf(1)));
        const later = [6, 7, 8].map((s) => engine.start(request(promptOf(s, 9 * s))));
        expectSame(await mine.result, baseline);
        await Promise.all([...others, ...later].map((other) => other.result));
        await engine.close();
      });

      test.each([1, 7, 64])("prefilled in chunks of %i", async (maxPrefillChunk) => {
        const engine = await open({ ...machine, ...NO_CACHE, maxPrefillChunk });
        expectSame(await engine.runTokens(request(promptOf(1))), baseline);
        await engine.close();
      });

      test("from cached KV", async () => {
        const engine = await open(machine);
        await engine.runTokens({ tokens: promptOf(1).slice(0, 100), maxOutputTokens: 1 });
        const cached = await engine.runTokens(request(promptOf(1)));
        expect(cached.cachedTokens).toBe(96); // whole blocks of 16 of the first 100 tokens
        expectSame(cached, baseline);
        await engine.close();
      });

      test("continued from a live sequence, and from a fork of it", async () => {
        const engine = await open({ ...machine, ...NO_CACHE });
        const head = promptOf(1).slice(0, 77);
        const warm = { tokens: head, prefillOnly: true, keepSequence: true, maxOutputTokens: 0 };
        const { sequenceId } = await engine.runTokens(warm);
        const fork = engine.fork(sequenceId);
        const tail = request(promptOf(1).slice(77));
        const continued = await engine.continueTokens(sequenceId, tail);
        expect(continued.cachedTokens).toBe(77);
        expectSame(continued, baseline);
        expectSame(await engine.continueTokens(fork, tail), baseline);
        await engine.close();
      });

      test("after preemption", async () => {
        // Two prompts fit, and one block more; their outputs need two: the youngest loses its blocks.
        const kvMemoryBytes = blocksBytes(model, kvType, 2 * Math.ceil(PROMPT_TOKENS / 16) + 1);
        const options = { ...machine, kvMemoryBytes, maxContextTokens: 0, ...NO_CACHE };
        const engine = await open(options);
        // The engine thread may be through with the first before this one submits the second.
        while (engine.stats().numPreemptions === 0) {
          const first = engine.start(request(promptOf(2)));
          const mine = engine.start(request(promptOf(1)));
          expectSame(await mine.result, baseline);
          await first.result;
        }
        await engine.close();
      });
    });
  });
}

/** Bytes of `count` KV blocks: 2 layers, K and V, 16 positions. */
function blocksBytes(model: string, kvType: EngineOptions["kvType"], count: number): number {
  const kvWidth = { "llama-k": 64, qwen2: 64, "llama3-rope": 64 }[model] ?? 0;
  const valueBits = { f16: 16, f32: 32, q8_0: 9 }[kvType]; // 8-bit values share a float in 32
  return (count * 2 * 2 * 16 * kvWidth * valueBits) / 8;
}
