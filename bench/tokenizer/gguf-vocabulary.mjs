/** A tokenizer.json of a GGUF file with byte-level BPE, so that libraries can read its vocabulary. */
import { readFileSync } from "node:fs";

const CONTROL = 3;
const USER_DEFINED = 4;
/** `tokenizer.ggml.pre` -> what tokenizer.json says for it. */
const PRE_TOKENIZERS = {
  smollm: [{ type: "Digits", individual_digits: true }],
  "gpt-2": [],
};

export function tokenizerJsonOf(file) {
  const metadata = readMetadata(readFileSync(file));
  const get = (key) => metadata[`tokenizer.ggml.${key}`];
  const [tokens, types] = [get("tokens"), get("token_type")];
  const split = PRE_TOKENIZERS[get("pre")];
  if (get("model") !== "gpt2" || split === undefined) throw new Error(`${file}: no rules here`);
  const added = tokens.flatMap((content, id) =>
    types[id] === CONTROL || types[id] === USER_DEFINED
      ? [{ id, content, special: types[id] === CONTROL, normalized: false }]
      : [],
  );
  const byteLevel = {
    type: "ByteLevel",
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: true,
  };
  return {
    added_tokens: added.map((a) => ({ ...a, lstrip: false, rstrip: false, single_word: false })),
    normalizer: null,
    pre_tokenizer: { type: "Sequence", pretokenizers: [...split, byteLevel] },
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: "BPE",
      vocab: Object.fromEntries(tokens.map((text, id) => [text, id])),
      merges: get("merges"),
    },
  };
}

/** GGUF version 3, metadata only. */
function readMetadata(bytes) {
  let at = 8;
  const take = (size, read) => {
    const value = read.call(bytes, at);
    at += size;
    return value;
  };
  const uint32 = () => take(4, bytes.readUInt32LE);
  const uint64 = () => Number(take(8, bytes.readBigUInt64LE));
  const string = () => {
    const length = uint64();
    at += length;
    return bytes.toString("utf8", at - length, at);
  };
  const readers = [
    () => take(1, bytes.readUInt8),
    () => take(1, bytes.readInt8),
    () => take(2, bytes.readUInt16LE),
    () => take(2, bytes.readInt16LE),
    uint32,
    () => take(4, bytes.readInt32LE),
    () => take(4, bytes.readFloatLE),
    () => take(1, bytes.readUInt8) !== 0,
    string,
    () => {
      const type = uint32();
      return Array.from({ length: uint64() }, () => readers[type]());
    },
    uint64,
    () => Number(take(8, bytes.readBigInt64LE)),
    () => take(8, bytes.readDoubleLE),
  ];
  uint64(); // tensors
  const entries = Array.from({ length: uint64() }, () => {
    const key = string();
    return [key, readers[uint32()]()];
  });
  return Object.fromEntries(entries);
}
