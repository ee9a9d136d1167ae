/**
 * Logits of the fixture models against golden ones from float32 arithmetic in another implementation,
 * for every container and weight type, in each mode of arithmetic. Bounds and their reasons: the
 * fixtures' tolerances (float32: rounding order only; f16 and 8 bits: the KV cache's type; 8-bit activations).
 */
import { afterAll, describe, expect, test } from "vitest";
import { type DirectEngine, openNativeEngine } from "../../src/engine/native-engine.ts";
import type { EngineOptions } from "../../src/native/addon-types.ts";
import { type GoldenPrompt, goldenModels } from "../fixture-goldens.ts";

const VARIANTS = [
  ...["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"],
  ...["Q2_K", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K", "IQ4_NL", "IQ4_XS"],
];
const MODELS = ["llama-spm", "llama3-rope", "llama-k", "qwen2", "qwen2-k"];

interface Mode {
  readonly name: string;
  readonly options: Partial<EngineOptions>;
  readonly maxAbs: number;
  readonly relRms: number;
}
const FLOAT: Mode = {
  name: "float activations, f32 KV",
  options: { activations: "float", kvType: "f32" },
  maxAbs: 5e-4,
  relRms: 2e-5,
};
const WIDE: Mode = { name: "wide activations, f16 KV", options: {}, maxAbs: 0.1, relRms: 4e-3 };
const Q8_KV: Mode = {
  name: "float activations, q8_0 KV",
  options: { activations: "float", kvType: "q8_0" },
  maxAbs: 1.5,
  relRms: 5e-2,
};
const INT8: Mode = {
  name: "8-bit activations, f16 KV",
  options: { activations: "8" },
  maxAbs: 1.5,
  relRms: 6.5e-2,
};

/** Largest difference, and rms of the difference over the golden values' deviation. */
function compare(ours: Float32Array, golden: Float32Array): { maxAbs: number; relRms: number } {
  let maxAbs = 0;
  let squares = 0;
  let sum = 0;
  let sumSquares = 0;
  for (let i = 0; i < golden.length; i++) {
    const want = golden[i] as number;
    const difference = (ours[i] as number) - want;
    maxAbs = Math.max(maxAbs, Math.abs(difference));
    squares += difference * difference;
    sum += want;
    sumSquares += want * want;
  }
  const n = golden.length;
  const deviation = Math.sqrt(sumSquares / n - (sum / n) ** 2);
  return { maxAbs, relRms: Math.sqrt(squares / n) / deviation };
}

async function promptLogits(engine: DirectEngine, prompt: GoldenPrompt): Promise<Float32Array> {
  const request = {
    tokens: Int32Array.from(prompt.ids),
    maxOutputTokens: 1,
    logits: "all",
  } as const;
  const { logits } = await engine.runTokens({ ...request, tenantSalt: prompt.id });
  // Prompt rows come first; the goldens of some prompts hold the last rows only.
  const end = prompt.ids.length * engine.info.vocab;
  return logits.subarray(end - prompt.logits.length, end);
}

for (const model of MODELS) {
  describe(model, () => {
    const models = goldenModels(model, VARIANTS);
    if (models.length === 0) test.skip("needs the fixtures in WARMLOOP_TEST_DATA", () => undefined);
    for (const golden of models) {
      const modes = golden.isFloat ? [FLOAT, WIDE, Q8_KV] : [FLOAT, WIDE, INT8];
      test.each(modes)(`${golden.name}: logits within tolerance, $name`, async (mode) => {
        const engine = await openNativeEngine({ modelPath: golden.unpack(), ...mode.options });
        for (const prompt of golden.prompts()) {
          const { maxAbs, relRms } = compare(await promptLogits(engine, prompt), prompt.logits);
          expect(maxAbs, `${prompt.id} largest difference`).toBeLessThan(mode.maxAbs);
          expect(relRms, `${prompt.id} relative rms`).toBeLessThan(mode.relRms);
        }
        await engine.close();
      });

      test(`${golden.name}: greedy ids equal the golden ones in float32`, async () => {
        const engine = await openNativeEngine({ modelPath: golden.unpack(), ...FLOAT.options });
        for (const { id, ids, greedy } of golden.prompts()) {
          const maxOutputTokens = greedy.ids.length;
          const { tokens } = await engine.runTokens({
            tokens: Int32Array.from(ids),
            maxOutputTokens,
          });
          // A margin of the size of float32 rounding decides nothing.
          const close = greedy.margins.findIndex((margin) => margin < 2 * FLOAT.maxAbs);
          const count = close < 0 ? greedy.ids.length : close;
          expect([...tokens].slice(0, count), id).toEqual(greedy.ids.slice(0, count));
        }
        await engine.close();
      });
    }
  });
}

afterAll(() => {
  expect(goldenModels("qwen2", VARIANTS).length).toBeGreaterThan(0);
});
