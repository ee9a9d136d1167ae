/** Kind `engine` of the cases: parts of the engine and of the text layer, without a server. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { Tokenizer } from "tokenizers";
import { openNativeEngine } from "../../../src/engine/native-engine.ts";
import type { EngineOptions } from "../../../src/native/addon-types.ts";
import { loadAddon } from "../../../src/native/load-addon.ts";
import { loadTextModel } from "../../../src/text/load-text-model.ts";
import { compareLogits } from "../../engine/logit-difference.ts";
import { testDataFolder } from "../../fixture-models.ts";
import { fetchVocabulary, type VocabularySource } from "../../real-vocabularies.ts";
import { makeInspection } from "../../unit/text/inspections.ts";
import { unpackModel } from "./mutated-model.ts";

interface ScriptCase {
  readonly model: string;
  readonly script_ids: readonly ("text" | "unused id" | "control id")[];
}

interface KvCase {
  readonly model: string;
  readonly kv_type: readonly EngineOptions["kvType"][];
  readonly prompt_tokens: number;
  readonly chunks: readonly number[];
}

interface TokenizerCase {
  /** `fixture:NAME`: the vocabulary that the ids in the fixtures are from. */
  readonly tokenizer: readonly string[];
  readonly texts: readonly string[];
}

export async function engineHook(
  input: ScriptCase | KvCase | TokenizerCase | object,
  { id }: { readonly id: string },
): Promise<object> {
  if ("script_ids" in input) return decodeScript(input);
  if ("chunks" in input) return await compareChunks(input);
  if ("tokenizer" in input) return await compareTokenizers(input);
  return { skip: `${id} is a test of its own; see test/engine and test/unit` };
}

// ---- Output of given tokens

/** Texts of the fixture's vocabulary that stand for the kinds of tokens a case names. */
const TOKEN_KINDS = {
  text: "a",
  "unused id": "<unused0>",
  "control id": "<start_of_turn>",
} as const;

function decodeScript({ model: base, script_ids: kinds }: ScriptCase) {
  const model = unpackModel(`${base}/Q8_0`);
  const { tokenizer, createOutputDecoder } = loadTextModel(model, loadAddon().inspectModel(model));
  const oneToken = { parseSpecial: true, addBos: false };
  const ids = kinds.flatMap((kind) => [...tokenizer.encodePlain(TOKEN_KINDS[kind], oneToken)]);
  const decoder = createOutputDecoder({ stop: [] });
  const events = ids.flatMap((token) => decoder.push(Int32Array.of(token)));
  const text = [...events, ...decoder.finish()]
    .map((event) => (event.type === "text" ? event.delta : ""))
    .join("");
  return { text, output_tokens: decoder.numTokens };
}

// ---- KV types of a model with sliding windows

const DECODED_TOKENS = 32;

/**
 * For each KV type: logits of each way to cut the prompt, tokens without and with the cache, and how far
 * the logits of 8-bit KV are from those of float32. The weights are float: only the KV cache rounds.
 */
async function compareChunks({ model, kv_type: kvTypes, ...plan }: KvCase) {
  const modelPath = unpackModel(`${model}/F32`);
  const { vocab } = loadAddon().inspectModel(modelPath);
  const tokens = Int32Array.from({ length: plan.prompt_tokens }, (_, i) => (i * i * 7919) % vocab);
  const worlds = [];
  const rows: Partial<Record<EngineOptions["kvType"], Float32Array>> = {};
  for (const kvType of kvTypes) {
    const logits = [];
    for (const maxPrefillChunk of plan.chunks) {
      const all = await logitsOf({ modelPath, kvType, maxPrefillChunk }, tokens);
      logits.push(createHash("sha256").update(all).digest("hex"));
      rows[kvType] = all.subarray(0, tokens.length * vocab); // of the same tokens for each KV type
    }
    worlds.push({ logits, ...(await runTwice({ modelPath, kvType }, tokens)) });
  }
  if (rows.q8_0 === undefined || rows.f32 === undefined)
    throw new Error("no two KV types to compare");
  const error = { q8_0: compareLogits(rows.q8_0, rows.f32, vocab).maxAbs };
  return worlds.map((world) => ({ ...world, max_logit_error: error }));
}

type OpenOptions = Pick<EngineOptions, "modelPath"> & Partial<EngineOptions>;

async function logitsOf(options: OpenOptions, tokens: Int32Array): Promise<Float32Array> {
  const engine = await openNativeEngine({ ...options, enablePrefixCache: false });
  const request = { tokens, maxOutputTokens: DECODED_TOKENS, logits: "all" } as const;
  const { logits } = await engine.runTokens(request);
  await engine.close();
  return logits;
}

/** The same prompt again, after the first sequence was kept and released. */
async function runTwice(options: OpenOptions, tokens: Int32Array) {
  const engine = await openNativeEngine(options);
  const request = { tokens, maxOutputTokens: DECODED_TOKENS };
  const miss = await engine.runTokens({ ...request, keepSequence: true });
  engine.release(miss.sequenceId);
  const hit = await engine.runTokens(request);
  await engine.close();
  if (hit.cachedTokens === 0) throw new Error("the second run found nothing in the cache");
  return { miss: { tokens: [...miss.tokens] }, hit: { tokens: [...hit.tokens] } };
}

// ---- Ids of real vocabularies, beside those of the library in Rust

async function compareTokenizers({ tokenizer: names, texts }: TokenizerCase) {
  if (testDataFolder === undefined)
    return { skip: "needs fixtures/tokenizers of WARMLOOP_TEST_DATA" };
  const worlds = [];
  for (const name of names.map((wanted) => wanted.replace(/^fixture:/, ""))) {
    const fixture = path.join(testDataFolder, "fixtures/tokenizers", `${name}.json`);
    const source = JSON.parse(readFileSync(fixture, "utf8")) as VocabularySource;
    let folder: string;
    try {
      folder = fetchVocabulary(name, source);
    } catch (error) {
      return { skip: `no vocabulary ${name}: ${(error as Error).message}` };
    }
    const { tokenizer } = loadTextModel(folder, makeInspection({}));
    const ids = texts.map((text) => [
      ...tokenizer.encodePlain(text, { parseSpecial: true, addBos: false }),
    ]);
    worlds.push({ ids, oracle: { ids: await encodeInRust(folder, texts) } });
  }
  return worlds;
}

async function encodeInRust(folder: string, texts: readonly string[]): Promise<number[][]> {
  const oracle = Tokenizer.fromFile(path.join(folder, "tokenizer.json"));
  const options = { addSpecialTokens: false };
  const encodings = texts.map(async (text) => await oracle.encode(text, null, options));
  return (await Promise.all(encodings)).map((encoding) => encoding.getIds());
}
