/**
 * Fixture models with golden logits: all of them from WARMLOOP_TEST_DATA, else the few that are
 * committed. Weights and float arrays are gzip'd; `unpackModel` writes plain files to a temp folder.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { testDataFolder } from "./fixture-models.ts";

const FIXTURES =
  testDataFolder === undefined
    ? path.join(import.meta.dirname, "golden/models")
    : path.join(testDataFolder, "fixtures/models");

export interface GoldenPrompt {
  readonly id: string;
  readonly ids: readonly number[];
  /** [rows, vocab]; the last rows of the prompt when fewer than its tokens. */
  readonly logits: Float32Array;
  readonly greedy: { readonly ids: readonly number[]; readonly margins: readonly number[] };
}

export interface GoldenModel {
  /** "qwen2.Q4_1.gguf" or "qwen2/hf". */
  readonly name: string;
  /** Whether the weights are stored as float32, binary16 or bfloat16. */
  readonly isFloat: boolean;
  unpack(): string;
  prompts(): readonly GoldenPrompt[];
}

interface PromptEntry {
  readonly id: string;
  readonly ids: readonly number[];
  readonly logits: { readonly file: string };
  readonly greedy: GoldenPrompt["greedy"];
}

interface GgufEntry {
  readonly variant: string;
  readonly prompts?: readonly PromptEntry[];
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));

function readFloats(file: string): Float32Array {
  const bytes = gunzipSync(readFileSync(file));
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

function loadPrompts(folder: string, entries: readonly PromptEntry[]): GoldenPrompt[] {
  return entries.map((entry) => ({
    id: entry.id,
    ids: entry.ids,
    greedy: entry.greedy,
    logits: readFloats(path.join(folder, "golden", entry.logits.file)),
  }));
}

let scratch: string | undefined;
function scratchFolder(): string {
  scratch ??= mkdtempSync(path.join(tmpdir(), "warmloop-fixtures-"));
  return scratch;
}

function unpackFile(from: string, to: string): string {
  const bytes = readFileSync(from);
  writeFileSync(to, from.endsWith(".gz") ? gunzipSync(bytes) : bytes);
  return to;
}

function unpackFolder(from: string, to: string): string {
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from)) {
    unpackFile(path.join(from, file), path.join(to, file.replace(/\.gz$/, "")));
  }
  return to;
}

/** Every file of a model that this project can load, by the types that `variants` names. */
export function goldenModels(model: string, variants: readonly string[]): GoldenModel[] {
  const folder = path.join(FIXTURES, model);
  const ggufFile = path.join(folder, "golden/golden_gguf.json");
  if (!existsSync(ggufFile)) return [];
  const { files } = readJson(ggufFile) as { files: Record<string, GgufEntry> };
  const hfPrompts = () => {
    const golden = readJson(path.join(folder, "golden/golden.json"));
    return (golden as { prompts: PromptEntry[] }).prompts;
  };
  const models = Object.entries(files)
    .filter(([, entry]) => variants.includes(entry.variant))
    .map(([name, entry]) => ({
      name,
      isFloat: ["F32", "F16", "BF16"].includes(entry.variant),
      unpack: () =>
        unpackFile(path.join(folder, "gguf", `${name}.gz`), path.join(scratchFolder(), name)),
      prompts: () => loadPrompts(folder, entry.prompts ?? hfPrompts()),
    }));
  if (!existsSync(path.join(folder, "hf"))) return models;
  const hf = {
    name: `${model}/hf`,
    isFloat: true,
    unpack: () => unpackFolder(path.join(folder, "hf"), path.join(scratchFolder(), `${model}-hf`)),
    prompts: () => loadPrompts(folder, hfPrompts()),
  };
  return [...models, hf];
}
