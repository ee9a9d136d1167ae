/** Reads the metadata of a GGUF file, version 3, as `writeGguf` takes it back: values stay as their bytes. */
import { closeSync, openSync, readSync } from "node:fs";

const TYPE = { string: 8, array: 9 };
/** Bytes of each fixed-size value type, by its number in the file. */
const SCALAR_BYTES = [1, 1, 2, 2, 4, 4, 4, 1, undefined, undefined, 8, 8, 8];
const HEAD_BYTES = 24;
const MAX_METADATA_BYTES = 64 * 1024 * 1024;

/** key -> {type, bytes} in the order of the file. */
export function readMetadata(path) {
  const bytes = firstBytes(path);
  const reader = new Reader(bytes);
  const values = {};
  for (let left = Number(bytes.readBigUInt64LE(16)); left > 0; left--) {
    const key = reader.string();
    const type = reader.u32();
    const start = reader.at;
    reader.skipValue(type);
    values[key] = { type, bytes: bytes.subarray(start, reader.at) };
  }
  return values;
}

function firstBytes(path) {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(MAX_METADATA_BYTES);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}

class Reader {
  #bytes;
  at = HEAD_BYTES;

  constructor(bytes) {
    this.#bytes = bytes;
  }

  u32() {
    this.at += 4;
    return this.#bytes.readUInt32LE(this.at - 4);
  }

  u64() {
    this.at += 8;
    return Number(this.#bytes.readBigUInt64LE(this.at - 8));
  }

  string() {
    const length = this.u64();
    this.at += length;
    return this.#bytes.toString("utf8", this.at - length, this.at);
  }

  skipValue(type) {
    if (type === TYPE.string) this.string();
    else if (type === TYPE.array) this.#skipArray();
    else this.at += SCALAR_BYTES[type];
  }

  #skipArray() {
    const elementType = this.u32();
    const length = this.u64();
    const elementBytes = SCALAR_BYTES[elementType];
    if (elementBytes !== undefined) this.at += length * elementBytes;
    else for (let i = 0; i < length; i++) this.skipValue(elementType);
  }
}
