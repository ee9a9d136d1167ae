/** Real weights, where they are in the cache: the tokens that other implementations give. */
import { describe, expect, test } from "vitest";
import { openNativeEngine } from "../../src/engine/native-engine.ts";
import { loadAddon } from "../../src/native/load-addon.ts";
import { cachedModel } from "../cached-model.ts";

const gemma = cachedModel("gemma-3-270m");

describe.skipIf(gemma === undefined)(
  "gemma-3-270m, Q4_K_M (skipped: not in the model cache)",
  () => {
    test('greedy after "The capital of France is" is "the capital of the country of France"', async () => {
      const engine = await openNativeEngine({ modelPath: gemma ?? "", maxContextTokens: 512 });
      const { tokens } = await engine.runTokens({
        tokens: Int32Array.of(2, 818, 5279, 529, 7001, 563),
        maxOutputTokens: 7,
      });
      await engine.close();
      expect([...tokens]).toEqual([506, 5279, 529, 506, 2891, 529, 7001]);
    });

    test("its 32,768 tokens of context take 166 MiB, as 15 of 18 layers keep their window only", async () => {
      const needs = { modelPath: gemma ?? "", maxContextTokens: 32768, maxBatchTokens: 128 };
      const kvMemoryBytes = loadAddon().minKvBytes({ ...needs, kvType: "f16" });
      expect(Math.ceil(kvMemoryBytes / 2 ** 20)).toBe(166);
      const engine = await openNativeEngine({ ...needs, kvMemoryBytes });
      expect(engine.info.context).toBe(32768);
      await engine.close();
    });
  },
);
