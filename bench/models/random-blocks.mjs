/**
 * Random weights in the block formats of GGUF: every bit of a block is random but for its float16
 * scales, which are chosen so that weights have a standard deviation of 0.02 around zero. Activations
 * then stay finite through any number of layers.
 */

const DEVIATION = 0.02;
const CHUNK_BYTES = 4 * 2 ** 20;

/**
 * `halves`: offset in the block -> value of the float16 there. `spread` is the standard deviation of
 * a weight whose scale is 1: of 4 uniform bits 4.6, of 5 bits 9.2, of 8 bits 74; q4_k and q6_k
 * multiply those with a random block scale, and q4_k's minimum is centred by `dmin` = 7.5 `d`.
 */
function blockType(ggmlType, blockSize, blockBytes, { spread, halfOffset, dminOffset }) {
  const d = DEVIATION / spread;
  const halves = [[halfOffset, d]];
  if (dminOffset !== undefined) halves.push([dminOffset, 7.5 * d]);
  return { ggmlType, blockSize, blockBytes, halves };
}

/** Numbers, sizes and layouts as in ggml. */
export const BLOCK_TYPES = {
  f32: { ggmlType: 0, blockSize: 1, blockBytes: 4 },
  q4_0: blockType(2, 32, 18, { spread: 4.6, halfOffset: 0 }),
  q5_0: blockType(6, 32, 22, { spread: 9.2, halfOffset: 0 }),
  q8_0: blockType(8, 32, 34, { spread: 74, halfOffset: 0 }),
  q4_k: blockType(12, 256, 144, { spread: 250, halfOffset: 0, dminOffset: 2 }),
  q6_k: blockType(14, 256, 210, { spread: 1370, halfOffset: 208 }),
};

export function tensorBytes(type, shape) {
  const { blockSize, blockBytes } = BLOCK_TYPES[type];
  const count = shape.reduce((product, length) => product * length, 1);
  if (shape[0] % blockSize !== 0) throw new Error(`${type} does not divide rows of ${shape[0]}`);
  return (count / blockSize) * blockBytes;
}

/** The bytes of a quantized tensor in pieces of whole blocks; `random` fills a Uint32Array. */
export function* randomBlocks(type, shape, random) {
  const { blockBytes, halves } = BLOCK_TYPES[type];
  const numBytes = tensorBytes(type, shape);
  const blocksPerChunk = Math.floor(CHUNK_BYTES / blockBytes / 4) * 4;
  const words = new Uint32Array((blocksPerChunk * blockBytes) / 4);
  const chunk = Buffer.from(words.buffer);
  for (let at = 0; at < numBytes; at += chunk.length) {
    const length = Math.min(chunk.length, numBytes - at);
    random(words);
    for (const [offset, value] of halves) {
      const bits = halfBits(value);
      for (let k = offset; k < length; k += blockBytes) chunk.writeUInt16LE(bits, k);
    }
    yield chunk.subarray(0, length);
  }
}

/** A float32 tensor (norms, biases), around `mean`. */
export function* randomFloats(shape, mean, random) {
  const words = new Uint32Array(shape[0]);
  random(words);
  const values = Float32Array.from(words, (word) => mean + DEVIATION * (word / 2 ** 31 - 1));
  yield Buffer.from(values.buffer);
}

/** Bits of the float16 nearest to a positive value below 65504, denormals included. */
export function halfBits(value) {
  const exponent = Math.max(Math.floor(Math.log2(value)), -14);
  const mantissa = Math.round(value * 2 ** (10 - exponent));
  return mantissa < 1024 ? mantissa : ((exponent + 14) << 10) + mantissa;
}

/** Fills arrays of words with xorshift32 (Marsaglia 2003), the same for a seed. */
export function seededWords(seed) {
  let state = (seed * 0x9e3779b9) >>> 0 || 1;
  return (words) => {
    for (let i = 0; i < words.length; i++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      words[i] = state;
    }
  };
}

/** What writeGguf takes of tensors `{name, shape, type, mean?}`; `random` fills arrays of words. */
export function randomTensors(tensors, random) {
  return {
    tensors: tensors.map((tensor) => ({
      ...tensor,
      ggmlType: BLOCK_TYPES[tensor.type].ggmlType,
      numBytes: tensorBytes(tensor.type, tensor.shape),
    })),
    chunksOf: ({ type, shape, mean }) =>
      type === "f32" ? randomFloats(shape, mean, random) : randomBlocks(type, shape, random),
  };
}
