/**
 * Logits of the fixture models against golden ones from float32 arithmetic in another implementation:
 * every container and weight type, every mode of arithmetic, every instruction-set level of this
 * machine. Bounds and their reasons: the fixtures' tolerances, chosen by what a run rounds.
 */
import { describe, expect, test } from "vitest";
import { openNativeEngine } from "../../src/engine/native-engine.ts";
import type { EngineOptions } from "../../src/native/addon-types.ts";
import { loadAddon } from "../../src/native/load-addon.ts";
import {
  alternativeModel,
  type GoldenModel,
  type GoldenPrompt,
  goldenModel,
  goldenModelNames,
  goldenModels,
} from "../fixture-goldens.ts";
import { compareLogits, type LogitDifference } from "./logit-difference.ts";

const LEVELS = loadAddon().probeDevices()[0]?.isaLevels ?? [];
const MIXTURES = ["qwen3-moe", "gpt-oss"];
/** Holds types that are out of scope. */
const REFUSED = "MIX";

/** Upper bounds of a difference; those a mode does not name are not bounded. */
type Bounds = Partial<LogitDifference>;
const F32: Bounds = { maxAbs: 5e-4, relRms: 2e-5 };
const F16: Bounds = { maxAbs: 0.1, relRms: 4e-3 };
const Q8_KV: Bounds = { maxAbs: 1.5, relRms: 5e-2 };
const INT8: Bounds = { maxAbs: 1.5, relRms: 6.5e-2, meanKl: 3e-2 };
/**
 * Where the router's best refused expert is as good as the last one taken, rounding changes the choice
 * and that single position jumps (8-bit KV: one of 17 in qwen3-moe, one of 70 in gpt-oss, each with the
 * prompt's smallest gap).
 */
const MIXTURE: Bounds = { medianPositionRelRms: 5e-2 };

interface Mode {
  readonly name: string;
  readonly options: Pick<EngineOptions, "activations" | "kvType">;
  readonly bounds: Bounds;
}

function mode(
  activations: EngineOptions["activations"],
  kvType: EngineOptions["kvType"],
  bounds: Bounds,
): Mode {
  const name = `${activations} activations, ${kvType} KV`;
  return { name, options: { activations, kvType }, bounds };
}

const FLOAT = mode("float", "f32", F32);

function modesOf(model: string, { isFloat }: GoldenModel): readonly Mode[] {
  const isMixture = MIXTURES.includes(model);
  const int8 = isMixture ? MIXTURE : INT8;
  const q8Kv = isMixture ? MIXTURE : Q8_KV;
  // Activations of float weights are float32 whatever the option says.
  if (isFloat) {
    return [FLOAT, mode("wide", "f32", F32), mode("wide", "f16", F16), mode("wide", "q8_0", q8Kv)];
  }
  return [
    FLOAT,
    mode("float", "f16", F16),
    mode("float", "q8_0", q8Kv),
    mode("wide", "f32", F16),
    mode("wide", "f16", F16),
    mode("wide", "q8_0", q8Kv),
    mode("8", "f32", int8),
    mode("8", "f16", int8),
  ];
}

/** A longrope chooses its factors by the configured context: 128 tokens and less take the short ones. */
function contextOf(model: string, prompt: GoldenPrompt): number {
  return model === "phi3-longrope" && prompt.ids.length <= 128 ? 128 : 0;
}

async function promptLogits(
  prompt: GoldenPrompt,
  options: Pick<EngineOptions, "modelPath"> & Partial<EngineOptions>,
): Promise<Float32Array> {
  const engine = await openNativeEngine(options);
  const tokens = Int32Array.from(prompt.ids);
  const { logits } = await engine.runTokens({ tokens, maxOutputTokens: 1, logits: "all" });
  await engine.close();
  // Prompt rows come first; the goldens of some prompts hold the last rows only.
  const end = prompt.ids.length * engine.info.vocab;
  return logits.subarray(end - prompt.logits.length, end);
}

function expectWithin(difference: LogitDifference, bounds: Bounds, what: string): void {
  for (const key of Object.keys(bounds) as (keyof LogitDifference)[]) {
    expect(difference[key], `${what}: ${key}`).toBeLessThan(bounds[key] as number);
  }
}

async function expectGolden(model: string, golden: GoldenModel, { options, bounds }: Mode) {
  const modelPath = golden.unpack();
  for (const isa of LEVELS) {
    for (const prompt of golden.prompts()) {
      const maxContextTokens = contextOf(model, prompt);
      const logits = await promptLogits(prompt, { modelPath, isa, maxContextTokens, ...options });
      const vocab = loadAddon().inspectModel(modelPath).vocab;
      expectWithin(compareLogits(logits, prompt.logits, vocab), bounds, `${isa} ${prompt.id}`);
    }
  }
}

async function expectGoldenGreedy(model: string, golden: GoldenModel) {
  const modelPath = golden.unpack();
  for (const prompt of golden.prompts()) {
    const { ids, margins } = prompt.greedy;
    const maxContextTokens = contextOf(model, prompt);
    const engine = await openNativeEngine({ modelPath, maxContextTokens, ...FLOAT.options });
    const { tokens } = await engine.runTokens({
      tokens: Int32Array.from(prompt.ids),
      maxOutputTokens: ids.length,
    });
    await engine.close();
    // A margin of the size of float32 rounding decides nothing.
    const close = margins.findIndex((margin) => margin < 2 * (F32.maxAbs as number));
    const count = close < 0 ? ids.length : close;
    expect([...tokens].slice(0, count), prompt.id).toEqual(ids.slice(0, count));
  }
}

for (const model of goldenModelNames()) {
  const goldens = goldenModels(model).filter(({ variant }) => variant !== REFUSED);
  const alternative = alternativeModel(model);
  for (const golden of alternative === undefined ? goldens : [...goldens, alternative]) {
    describe(golden.name, () => {
      test.each(modesOf(model, golden))("logits within tolerance, $name", async (mode) => {
        await expectGolden(model, golden, mode);
      });

      test("greedy ids equal the golden ones in float32", async () => {
        await expectGoldenGreedy(model, golden);
      });
    });
  }
}

test.skipIf(goldenModel("llama-k", REFUSED) === undefined)(
  "a file that holds types out of scope is refused by type and tensor",
  async () => {
    const modelPath = goldenModel("llama-k", REFUSED)?.unpack() ?? "";
    await expect(openNativeEngine({ modelPath })).rejects.toThrow(
      /blk\.\d+\.\w+\.weight is IQ[23]_\w+, not supported; use/,
    );
    await expect(openNativeEngine({ modelPath })).rejects.toMatchObject({
      code: "ERR_MODEL_TYPE",
    });
  },
);

test("the committed fixtures are there", () => {
  expect(goldenModelNames()).toEqual(expect.arrayContaining(["gemma3", "gpt-oss", "qwen2"]));
});
