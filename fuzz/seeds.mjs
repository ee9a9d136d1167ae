// Seeds of the native targets, made from the fixture models: those in test/golden, and all of them where
// WARMLOOP_TEST_DATA has more. One file a model, the smallest, since structure is what is mutated.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { metadataOnly } from "../test/gguf-metadata.ts";

const ROOT = path.resolve(import.meta.dirname, "..");

function modelFolders() {
  const roots = [path.join(ROOT, "test/golden/models")];
  const data = process.env.WARMLOOP_TEST_DATA;
  if (data !== undefined) roots.push(path.join(data, "fixtures/models"));
  return roots.flatMap((root) =>
    readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => path.join(root, entry.name)),
  );
}

const listOrNone = (folder) => {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
};

function ggufSeeds() {
  return modelFolders().flatMap((folder) => {
    const files = listOrNone(path.join(folder, "gguf"))
      .filter((name) => name.endsWith(".gguf.gz") && !name.includes("-of-"))
      .map((name) => ({ name, bytes: unpack(path.join(folder, "gguf", name)) }))
      .sort((a, b) => a.bytes.length - b.bytes.length);
    return files.slice(0, 1);
  });
}

function unpack(file) {
  const bytes = readFileSync(file);
  return file.endsWith(".gz") ? gunzipSync(bytes) : bytes;
}

/** A folder as one input: safetensors_target.cpp has the layout. */
function packFolder(config, weights, hasIndex) {
  const headerBytes = Number(weights.readBigUInt64LE(0));
  const header = JSON.parse(weights.subarray(8, 8 + headerBytes).toString());
  const names = Object.keys(header).filter((name) => name !== "__metadata__");
  const map = Object.fromEntries(names.map((name) => [name, "model.safetensors"]));
  const index = Buffer.from(hasIndex ? JSON.stringify({ weight_map: map }) : "");
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(config.length, 0);
  lengths.writeUInt32LE(index.length, 4);
  return Buffer.concat([lengths, config, index, weights]);
}

function safetensorsSeeds() {
  const folders = modelFolders().flatMap((folder) => {
    const hf = path.join(folder, "hf");
    const name = ["model.safetensors.gz", "model.safetensors"].find((file) =>
      listOrNone(hf).includes(file),
    );
    if (name === undefined) return [];
    const config = readFileSync(path.join(hf, "config.json"));
    return [{ name: path.basename(folder), config, weights: unpack(path.join(hf, name)) }];
  });
  return [...folders, { name: "tiny", ...tinyFolder() }].flatMap(({ name, config, weights }) =>
    [false, true].map((hasIndex) => ({
      name: `${name}${hasIndex ? "-index" : ""}`,
      bytes: packFolder(config, weights, hasIndex),
    })),
  );
}

/** A llama model of one layer, all zeros: small, so that most of its bytes are structure. */
function tinyFolder() {
  const [hidden, ffn, vocab] = [32, 64, 32];
  const config = {
    model_type: "llama",
    hidden_size: hidden,
    intermediate_size: ffn,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    rms_norm_eps: 1e-5,
    rope_theta: 10000.0,
    max_position_embeddings: 64,
    vocab_size: vocab,
    hidden_act: "silu",
    tie_word_embeddings: true,
  };
  const layer = {
    "input_layernorm.weight": [hidden],
    "post_attention_layernorm.weight": [hidden],
    "self_attn.q_proj.weight": [hidden, hidden],
    "self_attn.k_proj.weight": [hidden / 2, hidden],
    "self_attn.v_proj.weight": [hidden / 2, hidden],
    "self_attn.o_proj.weight": [hidden, hidden],
    "mlp.gate_proj.weight": [ffn, hidden],
    "mlp.up_proj.weight": [ffn, hidden],
    "mlp.down_proj.weight": [hidden, ffn],
  };
  const shapes = {
    "model.embed_tokens.weight": [vocab, hidden],
    "model.norm.weight": [hidden],
    ...Object.fromEntries(Object.entries(layer).map(([k, v]) => [`model.layers.0.${k}`, v])),
  };
  let at = 0;
  const header = Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const numBytes = 2 * shape.reduce((product, size) => product * size, 1);
      const entry = { dtype: "BF16", shape, data_offsets: [at, at + numBytes] };
      at += numBytes;
      return [name, entry];
    }),
  );
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return {
    config: Buffer.from(JSON.stringify(config)),
    weights: Buffer.concat([length, text, Buffer.alloc(at)]),
  };
}

/** tokenizer_target.cpp has the layout: a length of 32 bits, a vocabulary, a text to encode. */
function tokenizerSeeds() {
  const root = path.join(ROOT, "test/golden/tokenizers");
  const texts = ["Hello  world!\n\n123 don't é🙂 <|im_end|> \t x", "".padEnd(300, "ab "), ""];
  const vocabularies = [
    ...listOrNone(root).map((name) => ({
      name,
      bytes: readFileSync(path.join(root, name, "tokenizer.json")),
    })),
    // Tensors say nothing to a tokenizer: metadata is all that is kept.
    ...ggufSeeds().map(({ name, bytes }) => ({ name, bytes: metadataOnly(bytes) })),
  ];
  return vocabularies.map(({ name, bytes }, index) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return {
      name,
      bytes: Buffer.concat([length, bytes, Buffer.from(texts[index % texts.length])]),
    };
  });
}

const SEEDS = { gguf: ggufSeeds, safetensors: safetensorsSeeds, tokenizer: tokenizerSeeds };

/** Writes the seeds of a target into a folder. */
export function writeSeeds(target, folder) {
  mkdirSync(folder, { recursive: true });
  for (const { name, bytes } of SEEDS[target]()) writeFileSync(path.join(folder, name), bytes);
}
