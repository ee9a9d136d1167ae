/**
 * A model that is small enough to read a million tokens in a benchmark: two layers of random weights behind
 * the vocabulary and the chat template of the default model, and a context of 262,144 tokens.
 */
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { f32, u32, writeGguf } from "../models/gguf-file.mjs";
import { randomTensors, seededWords } from "../models/random-blocks.mjs";
import { readMetadata } from "./gguf-metadata.mjs";

const FILE = path.resolve(import.meta.dirname, "../scratch/long-context.gguf");
const LAYERS = 2;
const HIDDEN = 32;
const FFN = 64;
const CONTEXT = 262_144;
const SEED = 1;

/** Path of the file, written if it is not there. @param source a GGUF file of the default model */
export function longContextModel(source) {
  if (existsSync(FILE)) return FILE;
  mkdirSync(path.dirname(FILE), { recursive: true });
  const metadata = readMetadata(source);
  writeGguf(FILE, {
    metadata: { ...metadata, ...shapeMetadata() },
    ...randomTensors(tensors(metadata["tokenizer.ggml.tokens"]), seededWords(SEED)),
  });
  return FILE;
}

function shapeMetadata() {
  return {
    "general.name": "long-context",
    "llama.block_count": u32(LAYERS),
    "llama.context_length": u32(CONTEXT),
    "llama.embedding_length": u32(HIDDEN),
    "llama.feed_forward_length": u32(FFN),
    "llama.attention.head_count": u32(1),
    "llama.attention.head_count_kv": u32(1),
    "llama.rope.dimension_count": u32(HIDDEN),
    "llama.rope.freq_base": f32(1_000_000),
  };
}

function tensors(tokens) {
  const vocab = Number(tokens.bytes.readBigUInt64LE(4)); // behind the type of the elements
  const norm = (name) => ({ name: `${name}.weight`, shape: [HIDDEN], type: "f32", mean: 1 });
  const matrix = (name, inputs, outputs) => ({
    name: `${name}.weight`,
    shape: [inputs, outputs],
    type: "q8_0",
  });
  const layer = (index) => [
    norm(`blk.${index}.attn_norm`),
    ...["attn_q", "attn_k", "attn_v", "attn_output"].map((role) =>
      matrix(`blk.${index}.${role}`, HIDDEN, HIDDEN),
    ),
    norm(`blk.${index}.ffn_norm`),
    matrix(`blk.${index}.ffn_gate`, HIDDEN, FFN),
    matrix(`blk.${index}.ffn_up`, HIDDEN, FFN),
    matrix(`blk.${index}.ffn_down`, FFN, HIDDEN),
  ];
  return [
    matrix("token_embd", HIDDEN, vocab),
    norm("output_norm"),
    ...Array.from({ length: LAYERS }, (_, index) => layer(index)).flat(),
  ];
}
