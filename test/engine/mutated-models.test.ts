/**
 * Damaged model files through the whole native path: each of several hundred seeded mutations either
 * loads and answers, or fails with a coded error that names a fact; the process lives, and the intact
 * file still loads and answers the same afterwards.
 */
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { openNativeEngine } from "../../src/engine/native-engine.ts";
import { loadAddon } from "../../src/native/load-addon.ts";
import { goldenModel } from "../fixture-goldens.ts";
import { seededRandom } from "../seeded-random.ts";

const MUTATIONS = 150; // of each file
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
      copy.fill(pick(2) === 0 ? 0xff : 0x00, at, at + 1 + pick(16));
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

async function checkMutations(intact: Buffer, headerBytes: number, file: string): Promise<void> {
  const random = seededRandom(intact.length);
  const outcomes = new Map<string, number>();
  for (let i = 0; i < MUTATIONS; i++) {
    writeFileSync(file, mutate(intact, headerBytes, random));
    const outcome = await tryModel(
      path.basename(file) === "model.safetensors" ? path.dirname(file) : file,
    );
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (outcome !== "ok") expect(outcome, `mutation ${i}`).toMatch(CODED);
  }
  expect(outcomes.size, [...outcomes.keys()].join()).toBeGreaterThan(1);
}

describe("damaged model files", () => {
  for (const [model, variant] of [
    ["llama-k", "Q4_K_M"],
    ["qwen2", "Q4_1"],
  ] as const) {
    test(`${model} ${variant}.gguf: every damage is a coded error or a working model`, async () => {
      const source = goldenModel(model, variant)?.unpack() ?? "";
      const file = path.join(mkdtempSync(path.join(tmpdir(), "warmloop-damaged-")), "model.gguf");
      await checkMutations(readFileSync(source), 24_000, file);
      expect(await tryModel(source)).toBe("ok");
    });
  }

  const folder = goldenModel("qwen2", "hf");
  test.skipIf(folder === undefined)(
    "safetensors: every damage is a coded error or a working model",
    async () => {
      const source = folder?.unpack() ?? "";
      const copy = mkdtempSync(path.join(tmpdir(), "warmloop-damaged-"));
      cpSync(source, copy, { recursive: true });
      const intact = readFileSync(path.join(source, "model.safetensors"));
      await checkMutations(intact, 2_500, path.join(copy, "model.safetensors"));
      expect(await tryModel(source)).toBe("ok");
    },
  );
});
