/**
 * Damaged model files through the whole native path: each of many hundred seeded mutations either
 * loads and answers, or fails with a coded error that names a fact; the process lives, and the intact
 * file still loads and answers the same afterwards.
 */
import { cpSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { openNativeEngine } from "../../src/engine/native-engine.ts";
import { loadAddon } from "../../src/native/load-addon.ts";
import { goldenModel } from "../fixture-goldens.ts";
import { seededRandom } from "../seeded-random.ts";

const MUTATIONS = 200; // of each file
const GGUFS = [
  ["llama-k", "Q4_K_M"],
  ["llama-k", "Q2_K"],
  ["qwen2", "Q4_1"],
  ["qwen3-moe", "Q8_0"],
  ["gemma3", "Q8_0"],
  ["phi3-longrope", "F16"],
  ["gpt-oss", "MXFP4"],
  ["smollm3", "F16"],
  ["granite", "Q8_0"],
] as const;
const FOLDERS = [
  "qwen2",
  "qwen3-moe",
  "gemma3",
  "gpt-oss",
  "phi3-longrope",
  "mistral-swa",
  "olmo2",
];
const CODED = /^ERR_[A-Z_]+$/;

type Random = () => number;

/** One damage: bytes flipped or set to extremes, a cut, a doubled or removed piece. */
function mutate(bytes: Buffer, headerBytes: number, random: Random): Buffer {
  const pick = (limit: number) => Math.floor(random() * limit);
  // Half of the damage goes where structure is; the rest hits weights.
  const at = random() < 0.5 ? pick(headerBytes) : pick(bytes.length);
  const copy = Buffer.from(bytes);
  switch (pick(5)) {
    case 0:
      copy[at] = (copy[at] as number) ^ (1 << pick(8));
      return copy;
    case 1:
      copy.fill(pick(2) === 0 ? 0xff : 0x00, at, Math.min(at + 1 + pick(16), copy.length));
      return copy;
    case 2:
      return copy.subarray(0, at);
    case 3:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(at, at + 64), copy.subarray(at)]);
    default:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(at + 1 + pick(64))]);
  }
}

/** "ok", or the code of the error that the file was refused or the request ended with. */
async function tryModel(modelPath: string): Promise<string> {
  try {
    loadAddon().inspectModel(modelPath);
    const engine = await openNativeEngine({ modelPath, kvMemoryBytes: 1 << 20 });
    try {
      await engine.runTokens({ tokens: Int32Array.of(1, 2, 3), maxOutputTokens: 3 });
    } finally {
      await engine.close();
    }
    return "ok";
  } catch (error) {
    return (error as { code?: string }).code ?? `uncoded: ${String(error)}`;
  }
}

/** `file` is damaged over and over and opened as `model`: itself, or the folder that it lies in. */
async function checkMutations(file: string, headerBytes: number, model = file): Promise<void> {
  const intact = readFileSync(file);
  const random = seededRandom(intact.length);
  const outcomes = new Map<string, number>();
  for (let i = 0; i < MUTATIONS; i++) {
    writeFileSync(file, mutate(intact, headerBytes, random));
    const outcome = await tryModel(model);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (outcome !== "ok") expect(outcome, `mutation ${i}`).toMatch(CODED);
  }
  expect(outcomes.size, [...outcomes.keys()].join()).toBeGreaterThan(1);
  writeFileSync(file, intact);
  expect(await tryModel(model)).toBe("ok");
}

/** All of a checkpoint's file but the tensors. */
function headerBytesOf(file: string, model = file): number {
  const { tensors } = loadAddon().inspectModel(model);
  return statSync(file).size - tensors.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** A copy to damage: other tests read the unpacked one. */
function copyOf(source: string, name: string): string {
  const copy = path.join(mkdtempSync(path.join(tmpdir(), "warmloop-damaged-")), name);
  cpSync(source, copy, { recursive: true });
  return copy;
}

describe("damaged model files: every damage is a coded error or a working model", () => {
  for (const [model, variant] of GGUFS) {
    const golden = goldenModel(model, variant);
    test.skipIf(golden === undefined)(`${model} ${variant}.gguf`, async () => {
      const file = copyOf(golden?.unpack() ?? "", "model.gguf");
      await checkMutations(file, headerBytesOf(file));
    });
  }

  for (const model of FOLDERS) {
    const golden = goldenModel(model, "hf");
    test.skipIf(golden === undefined)(`${model}, safetensors and their configuration`, async () => {
      const folder = copyOf(golden?.unpack() ?? "", model);
      const weights = path.join(folder, "model.safetensors");
      await checkMutations(weights, headerBytesOf(weights, folder), folder);
      const config = path.join(folder, "config.json");
      await checkMutations(config, statSync(config).size, folder);
    });
  }

  test("an MXFP4 scale that is not a number is refused by the name of its matrix", async () => {
    const bytes = readFileSync(goldenModel("gpt-oss", "MXFP4")?.unpack() ?? "");
    const file = path.join(mkdtempSync(path.join(tmpdir(), "warmloop-damaged-")), "model.gguf");
    writeFileSync(file, bytes.fill(0xff, bytes.length / 2)); // experts are most of the file
    await expect(openNativeEngine({ modelPath: file })).rejects.toMatchObject({
      code: "ERR_MODEL_FORMAT",
      message: expect.stringMatching(/blk\.\d\.ffn_\w+_exps\.\d\.weight has an MXFP4 block/),
    });
  });
});
