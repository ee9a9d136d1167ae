/** The random models of the benchmarks: valid files with the mix of types that they are known for. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { f32, u32, writeGguf } from "../../../bench/models/gguf-file.mjs";
import { madeUpVocabulary } from "../../../bench/models/made-up-vocabulary.mjs";
import { halfBits, seededWords } from "../../../bench/models/random-blocks.mjs";
import { contentOf } from "../../../bench/models/random-model.mjs";
import { RANDOM_MODELS, tensorsOf } from "../../../bench/models/shapes.mjs";
import { openNativeEngine } from "../../../src/engine/native-engine.ts";

function modelNamed(name: string) {
  const model = RANDOM_MODELS.find((known) => known.name === name);
  if (model === undefined) throw new Error(`there is no model ${name}`);
  return model;
}

function countTypes(name: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type } of tensorsOf(modelNamed(name))) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

describe("the mix of tensor types", () => {
  test("of the 1B shape has a Q6_K head, and 17 Q6_K tensors in Q4_K_M", () => {
    expect(countTypes("llama1b-q4_0")).toEqual({ q6_k: 1, f32: 33, q4_0: 112 });
    expect(countTypes("llama1b-q4_k_m")).toEqual({ q6_k: 17, f32: 33, q4_k: 96 });
    expect(countTypes("llama1b-q8_0")).toEqual({ q8_0: 113, f32: 33 });
  });

  test("of the 0.5B shape is mostly Q5_0, as 256 does not divide its rows", () => {
    const { f32: _, ...matrices } = countTypes("qwen0.5b-q4_k_m");
    expect(matrices).toEqual({ q5_0: 132, q8_0: 13, q4_k: 12, q6_k: 12 });
  });
});

describe("a made-up vocabulary", () => {
  const { tokens, types, merges } = madeUpVocabulary(2000, { 1000: "<|begin|>", 1999: "<|end|>" });

  test("has as many different tokens as it was asked for", () => {
    expect(tokens).toHaveLength(2000);
    expect(new Set(tokens).size).toBe(2000);
  });

  test("has control tokens at their ids and a merge for every token above the bytes", () => {
    expect(tokens[1000]).toBe("<|begin|>");
    expect(tokens[1999]).toBe("<|end|>");
    expect([types[999], types[1000], types[1999]]).toEqual([1, 3, 3]);
    expect(merges).toHaveLength(2000 - 256 - 2);
    expect(merges[0]).toBe("a a");
  });
});

test("float16 bits are the nearest ones, denormals included", () => {
  expect(halfBits(1)).toBe(0x3c00);
  expect(halfBits(0.333251953125)).toBe(0x3555);
  expect(halfBits(2 ** -24)).toBe(1);
  expect(halfBits(1.9999)).toBe(0x4000);
});

/** A model of two small layers in the given mix, run to its first tokens. */
async function runSmall(name: string): Promise<Int32Array> {
  const { shape, fileType } = modelNamed(name);
  // Rows of the second are no multiple of 256, as in the large one.
  const size = shape.arch === "llama" ? { hidden: 256, headDim: 64 } : { hidden: 224, headDim: 56 };
  const counts = { numLayers: 2, numHeads: 4, numKvHeads: 2, ffn: 512, vocab: 1024 };
  const ends = { controls: { 1000: "<|begin|>", 1001: "<|end|>" }, bos: 1000, eos: 1001 };
  const small = { name: "small", shape: { ...shape, ...size, ...counts, ...ends }, fileType };
  const folder = mkdtempSync(path.join(tmpdir(), "warmloop-random-model-"));
  const modelPath = path.join(folder, "small.gguf");
  writeGguf(modelPath, contentOf(small, seededWords(1)));
  const engine = await openNativeEngine({ modelPath });
  const result = await engine.runTokens({ tokens: Int32Array.of(300, 301), maxOutputTokens: 4 });
  await engine.close();
  return result.tokens;
}

describe("a file that was written", () => {
  // The engine ends a request when a logit is not finite.
  test.each(["llama1b-q4_0", "llama1b-q4_k_m", "qwen0.5b-q4_k_m", "qwen0.5b-q8_0"])(
    "%s runs",
    async (name) => {
      expect(await runSmall(name)).toHaveLength(4);
    },
  );

  test("is refused while a tensor has other bytes than its shape", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "warmloop-random-model-"));
    const tensor = { name: "t", shape: [4], ggmlType: 0, numBytes: 16 };
    const write = () =>
      writeGguf(path.join(folder, "wrong.gguf"), {
        metadata: { a: u32(1), b: f32(1), c: true, d: ["x"], e: Int32Array.of(1) },
        tensors: [tensor],
        chunksOf: () => [Buffer.alloc(12)],
      });
    expect(write).toThrow("t has 12 bytes, its shape 16");
  });
});
