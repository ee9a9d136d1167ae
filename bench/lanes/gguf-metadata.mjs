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
  let at = HEAD_BYTES;
  const u64 = () => {
    at += 8;
    return Number(bytes.readBigUInt64LE(at - 8));
  };
  const u32 = () => {
    at += 4;
    return bytes.readUInt32LE(at - 4);
  };
  const skipString = () => {
    const length = u64();
    at += length;
    return bytes.toString("utf8", at - length, at);
  };
  const skipValue = (type) => {
    if (type === TYPE.string) return void skipString();
    if (type !== TYPE.array) return void (at += SCALAR_BYTES[type]);
    const elementType = u32();
    const length = u64();
    const elementBytes = SCALAR_BYTES[elementType];
    if (elementBytes !== undefined) return void (at += length * elementBytes);
    for (let i = 0; i < length; i++) skipValue(elementType);
  };
  const values = {};
  for (let left = Number(bytes.readBigUInt64LE(16)); left > 0; left--) {
    const key = skipString();
    const type = u32();
    const start = at;
    skipValue(type);
    values[key] = { type, bytes: bytes.subarray(start, at) };
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
