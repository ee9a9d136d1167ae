/**
 * Fixture models with golden logits: all of them from WARMLOOP_TEST_DATA, else the few that are
 * committed. Weights and float arrays are gzip'd.
 */
import {
  cpSync,
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
import { FIXTURE_MODELS } from "./fixture-models.ts";

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
  /** "Q4_1", or "hf" for the folder. */
  readonly variant: string;
  /** Whether all weights are stored as float32, binary16 or bfloat16. */
  readonly isFloat: boolean;
  /** Writes plain files to a temp folder. */
  unpack(): string;
  prompts(): readonly GoldenPrompt[];
}

interface PromptEntry {
  readonly id: string;
  readonly ids: readonly number[];
  readonly logits: { readonly file: string };
  readonly greedy: GoldenPrompt["greedy"];
}

/** golden.json; some models have more sections like `prompts`, for another configuration. */
interface GoldenFile {
  readonly prompts: readonly PromptEntry[];
  readonly full_attention?: { readonly prompts: readonly PromptEntry[] };
  readonly alt_config?: { readonly prompts: readonly PromptEntry[] };
}

/** An entry of golden_gguf.json. */
interface GgufEntry {
  readonly variant: string;
  readonly tensor_types?: Readonly<Record<string, number>>;
  /** Where the weights differ from the folder's. */
  readonly prompts?: readonly PromptEntry[];
  /** Else "golden.json" or "golden.json: SECTION". */
  readonly golden?: string;
  /** A part of a split file: the file that all parts make together. */
  readonly split_of?: string;
}

const FLOAT_TYPES = ["F32", "F16", "BF16"];

/** Models that have goldens here. */
export function goldenModelNames(): string[] {
  return readdirSync(FIXTURE_MODELS).filter((model) =>
    existsSync(goldenPath(model, "golden_gguf.json")),
  );
}

/** Every checkpoint of a model: its GGUF files, split ones by their first part, and its HF folder. */
export function goldenModels(model: string): GoldenModel[] {
  const { files } = readJson(goldenPath(model, "golden_gguf.json")) as {
    files: Record<string, GgufEntry>;
  };
  const ggufs = Object.entries(files)
    .filter(([name]) => !/-of-/.test(name) || name.includes("-00001-of-"))
    .map(([name, entry]) => ggufModel(model, name, entry, files));
  return existsSync(path.join(FIXTURE_MODELS, model, "hf")) ? [...ggufs, hfModel(model)] : ggufs;
}

/** One checkpoint, by its variant ("Q4_1", "hf"); undefined without the fixtures that have it. */
export function goldenModel(model: string, variant: string): GoldenModel | undefined {
  if (!existsSync(goldenPath(model, "golden_gguf.json"))) return undefined;
  return goldenModels(model).find((golden) => golden.variant === variant);
}

/** The HF folder with the configuration of config.alt.json, where a model has one. */
export function alternativeModel(model: string): GoldenModel | undefined {
  if (!existsSync(path.join(FIXTURE_MODELS, model, "hf/config.alt.json"))) return undefined;
  return {
    ...hfModel(model),
    name: `${model}/hf with config.alt.json`,
    unpack: () => {
      const folder = unpackFolder(model, `${model}-alt`);
      cpSync(path.join(folder, "config.alt.json"), path.join(folder, "config.json"));
      return folder;
    },
    prompts: () => loadPrompts(model, goldenFile(model).alt_config?.prompts ?? []),
  };
}

function ggufModel(
  model: string,
  name: string,
  entry: GgufEntry,
  files: Readonly<Record<string, GgufEntry>>,
): GoldenModel {
  const { tensor_types, prompts, golden } = files[entry.split_of ?? name] as GgufEntry;
  const section = golden?.split(": ")[1] === "full_attention" ? "full_attention" : "prompts";
  const parts = Object.keys(files).filter((file) => entry.split_of && files[file]?.split_of);
  return {
    name,
    variant: entry.split_of === undefined ? entry.variant : `${entry.variant} split`,
    isFloat: Object.keys(tensor_types ?? {}).every((type) => FLOAT_TYPES.includes(type)),
    unpack: () => {
      for (const part of parts) unpackGguf(model, part);
      return unpackGguf(model, name);
    },
    prompts: () => loadPrompts(model, prompts ?? sectionOf(model, section)),
  };
}

function hfModel(model: string): GoldenModel {
  return {
    name: `${model}/hf`,
    variant: "hf",
    // gpt-oss keeps its experts as MXFP4 in the folder too.
    isFloat: model !== "gpt-oss",
    unpack: () => unpackFolder(model, `${model}-hf`),
    prompts: () => loadPrompts(model, goldenFile(model).prompts),
  };
}

function goldenPath(model: string, file: string): string {
  return path.join(FIXTURE_MODELS, model, "golden", file);
}

function goldenFile(model: string): GoldenFile {
  return readJson(goldenPath(model, "golden.json")) as GoldenFile;
}

function sectionOf(model: string, section: "full_attention" | "prompts"): readonly PromptEntry[] {
  const golden = goldenFile(model);
  return section === "prompts" ? golden.prompts : (golden.full_attention?.prompts ?? []);
}

function loadPrompts(model: string, entries: readonly PromptEntry[]): GoldenPrompt[] {
  return entries.map((entry) => ({
    id: entry.id,
    ids: entry.ids,
    greedy: entry.greedy,
    logits: readFloats(goldenPath(model, entry.logits.file)),
  }));
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

function readFloats(file: string): Float32Array {
  const bytes = gunzipSync(readFileSync(file));
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
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

function unpackGguf(model: string, name: string): string {
  const packed = path.join(FIXTURE_MODELS, model, "gguf", `${name}.gz`);
  return unpackFile(packed, path.join(scratchFolder(), name));
}

function unpackFolder(model: string, name: string): string {
  const from = path.join(FIXTURE_MODELS, model, "hf");
  const to = path.join(scratchFolder(), name);
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from)) {
    unpackFile(path.join(from, file), path.join(to, file.replace(/\.gz$/, "")));
  }
  return to;
}
