/**
 * Shapes of models people run, with the mix of tensor types that llama.cpp's quantizer gives them.
 * The weights are random: speed does not depend on them.
 */
import { f32, u32 } from "./gguf-file.mjs";

const LLAMA_1B = {
  arch: "llama",
  numLayers: 16,
  hidden: 2048,
  ffn: 8192,
  numHeads: 32,
  numKvHeads: 8,
  headDim: 64,
  vocab: 128256,
  context: 131072,
  ropeBase: 500000,
  epsilon: 1e-5,
  hasQkvBias: false,
  preTokenizer: "llama-bpe",
  controls: { 128000: "<|begin_of_text|>", 128001: "<|end_of_text|>", 128009: "<|eot_id|>" },
  bos: 128000,
  eos: 128009,
  addsBos: true,
};

const QWEN_HALF_B = {
  arch: "qwen2",
  numLayers: 24,
  hidden: 896,
  ffn: 4864,
  numHeads: 14,
  numKvHeads: 2,
  headDim: 64,
  vocab: 151936,
  context: 32768,
  ropeBase: 1000000,
  epsilon: 1e-6,
  hasQkvBias: true,
  preTokenizer: "qwen2",
  controls: { 151643: "<|endoftext|>", 151644: "<|im_start|>", 151645: "<|im_end|>" },
  bos: 151643,
  eos: 151645,
  addsBos: false,
};

/** The first and last eighth of the layers and every third between them get more bits. */
export function hasMoreBits(layer, numLayers) {
  const eighth = Math.floor(numLayers / 8);
  return layer < eighth || layer >= 7 * eighth || (layer - eighth) % 3 === 2;
}

/** Rows that blocks of 256 do not divide get a type with blocks of 32. */
const forRows = (type, rowLength) => {
  if (rowLength % 256 === 0) return type;
  return { q4_k: "q5_0", q6_k: "q8_0" }[type] ?? type;
};

/** Type of a matrix, by file type; `role` as in the tensor's name, `layer` undefined for the head. */
const FILE_TYPES = {
  q4_0: (role) => (role === "token_embd" ? "q6_k" : "q4_0"),
  q8_0: () => "q8_0",
  q4_k_m: (role, layer, numLayers) => {
    if (role === "token_embd") return "q6_k";
    const isSensitive = role === "attn_v" || role === "ffn_down";
    return isSensitive && hasMoreBits(layer, numLayers) ? "q6_k" : "q4_k";
  },
};

/** {name, shape (fastest dimension first), type, mean?} of all tensors; `mean` for float32 ones. */
export function tensorsOf({ shape, fileType }) {
  const { numLayers, hidden, ffn, numHeads, numKvHeads, headDim, vocab, hasQkvBias } = shape;
  const qRows = numHeads * headDim;
  const kvRows = numKvHeads * headDim;
  const norm = (name) => ({ name, shape: [hidden], type: "f32", mean: 1 });
  const bias = (name, length) => ({ name, shape: [length], type: "f32", mean: 0 });
  const matrix = (role, layer, inputs, outputs) => ({
    name: layer === undefined ? `${role}.weight` : `blk.${layer}.${role}.weight`,
    shape: [inputs, outputs],
    type: forRows(FILE_TYPES[fileType](role, layer, numLayers), inputs),
  });
  const layerTensors = (layer) => [
    norm(`blk.${layer}.attn_norm.weight`),
    matrix("attn_q", layer, hidden, qRows),
    matrix("attn_k", layer, hidden, kvRows),
    matrix("attn_v", layer, hidden, kvRows),
    matrix("attn_output", layer, qRows, hidden),
    norm(`blk.${layer}.ffn_norm.weight`),
    matrix("ffn_gate", layer, hidden, ffn),
    matrix("ffn_up", layer, hidden, ffn),
    matrix("ffn_down", layer, ffn, hidden),
    ...(hasQkvBias
      ? [
          bias(`blk.${layer}.attn_q.bias`, qRows),
          bias(`blk.${layer}.attn_k.bias`, kvRows),
          bias(`blk.${layer}.attn_v.bias`, kvRows),
        ]
      : []),
  ];
  return [
    matrix("token_embd", undefined, hidden, vocab),
    norm("output_norm.weight"),
    ...Array.from({ length: numLayers }, (_, layer) => layerTensors(layer)).flat(),
  ];
}

/** GGUF metadata but for the vocabulary. */
export function metadataOf({ name, shape }) {
  const { arch } = shape;
  return {
    "general.architecture": arch,
    "general.name": name,
    [`${arch}.block_count`]: u32(shape.numLayers),
    [`${arch}.context_length`]: u32(shape.context),
    [`${arch}.embedding_length`]: u32(shape.hidden),
    [`${arch}.feed_forward_length`]: u32(shape.ffn),
    [`${arch}.attention.head_count`]: u32(shape.numHeads),
    [`${arch}.attention.head_count_kv`]: u32(shape.numKvHeads),
    [`${arch}.attention.layer_norm_rms_epsilon`]: f32(shape.epsilon),
    [`${arch}.rope.dimension_count`]: u32(shape.headDim),
    [`${arch}.rope.freq_base`]: f32(shape.ropeBase),
    [`${arch}.vocab_size`]: u32(shape.vocab),
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": shape.preTokenizer,
    "tokenizer.ggml.bos_token_id": u32(shape.bos),
    "tokenizer.ggml.eos_token_id": u32(shape.eos),
    "tokenizer.ggml.add_bos_token": shape.addsBos,
  };
}

const SHAPES = { llama1b: LLAMA_1B, "qwen0.5b": QWEN_HALF_B };

/** {name, shape, fileType} of every file that random-model.mjs can make. */
export const RANDOM_MODELS = Object.entries(SHAPES).flatMap(([prefix, shape]) =>
  Object.keys(FILE_TYPES).map((fileType) => ({ name: `${prefix}-${fileType}`, shape, fileType })),
);
