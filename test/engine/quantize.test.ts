/**
 * --quantize: float matrices become blocks while a model loads, from GGUF and from safetensors alike;
 * the logits stay as near to the float model's as files of that type do.
 */
import { describe, expect, test } from "vitest";
import { openNativeEngine } from "../../src/engine/native-engine.ts";
import type { EngineOptions } from "../../src/native/addon-types.ts";
import { type GoldenModel, goldenModel } from "../fixture-goldens.ts";
import { compareLogits } from "./logit-difference.ts";

type Quantize = EngineOptions["quantize"];

/** Logits of the longest prompt that the golden file has. */
async function logitsOf(golden: GoldenModel, options: Partial<EngineOptions>) {
  const prompt = golden.prompts().at(-1);
  if (prompt === undefined) throw new Error(`${golden.name} has no prompts`);
  const engine = await openNativeEngine({ modelPath: golden.unpack(), ...options });
  const { logits } = await engine.runTokens({
    tokens: Int32Array.from(prompt.ids),
    maxOutputTokens: 1,
    logits: "all",
  });
  await engine.close();
  const { vocab, weightBytes } = engine.info;
  return { logits: logits.subarray(0, prompt.ids.length * vocab), prompt, vocab, weightBytes };
}

/** Relative rms of what quantizing changes. */
async function lossOf(golden: GoldenModel, quantize: Quantize): Promise<number> {
  const { logits, prompt, vocab } = await logitsOf(golden, { quantize });
  return compareLogits(logits.subarray(logits.length - prompt.logits.length), prompt.logits, vocab)
    .relRms;
}

describe.skipIf(goldenModel("llama-k", "F16") === undefined)("quantizing at load", () => {
  // The fixtures' own files of these types differ from the float model by 0.34 (Q4_0) and 0.26
  // (Q4_K_M, which keeps some matrices at 6 bits) of the logits' deviation: tiny random models forgive
  // nothing.
  test.each([
    ["q8_0", 0.04],
    ["q4_0", 0.34],
    ["q4_k", 0.3],
  ] as const)("%s loses about as much as files of that type", async (quantize, bound) => {
    for (const variant of ["F16", "hf"]) {
      const golden = goldenModel("llama-k", variant) as GoldenModel;
      expect(await lossOf(golden, quantize), golden.name).toBeLessThan(bound);
    }
  });

  test("GGUF and safetensors with the same weights give the same bits", async () => {
    const [gguf, folder] = ["F16", "hf"].map((v) => goldenModel("qwen3-moe", v) as GoldenModel);
    const of = async (golden: GoldenModel) => (await logitsOf(golden, { quantize: "q8_0" })).logits;
    expect(await of(gguf as GoldenModel)).toEqual(await of(folder as GoldenModel));
  });

  test("the weights shrink, and the head stays finer than 4 bits", async () => {
    const golden = goldenModel("llama-k", "F16") as GoldenModel;
    const bytes = async (quantize: Quantize) => (await logitsOf(golden, { quantize })).weightBytes;
    expect(await bytes("q8_0")).toBeLessThan(0.55 * (await bytes("none")));
    expect(await bytes("q4_0")).toBeLessThan(0.65 * (await bytes("q8_0")));
  });

  test("rows that q4_k's blocks do not divide fall back, and the model still answers", async () => {
    const golden = goldenModel("qwen2", "F16") as GoldenModel; // rows of 64 and 160
    expect(await lossOf(golden, "q4_k")).toBeLessThan(0.2);
  });

  test.each([
    ["qwen2", "Q4_1"],
    ["gpt-oss", "hf"],
  ] as const)("a file that is quantized already is refused: %s %s", async (model, variant) => {
    const modelPath = goldenModel(model, variant)?.unpack() ?? "";
    await expect(openNativeEngine({ modelPath, quantize: "q8_0" })).rejects.toMatchObject({
      code: "ERR_MODEL_TYPE",
      message: expect.stringContaining("already quantized"),
    });
  });

  test("engines of one process that quantize differently do not share weights", async () => {
    const modelPath = goldenModel("llama-k", "F16")?.unpack() ?? "";
    const engines = await Promise.all(
      (["none", "q8_0"] as const).map((quantize) => openNativeEngine({ modelPath, quantize })),
    );
    const [plain, quantized] = engines.map(({ info }) => info.weightBytes);
    expect(quantized).toBeLessThan(plain ?? 0);
    await Promise.all(engines.map((engine) => engine.close()));
  });
});
