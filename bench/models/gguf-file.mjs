/**
 * Writes a GGUF file, version 3, tensor by tensor, so that a file of any size needs little memory.
 * It knows the container only: what a tensor's bytes mean is its caller's business.
 */
import { closeSync, openSync, renameSync, writeSync } from "node:fs";

const VERSION = 3;
const ALIGNMENT = 32;
/** Numbers of the value types in the file. */
const VALUE = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 };

/** `value` as an unsigned 32-bit number in the file. */
export const u32 = (value) => ({ type: VALUE.u32, bytes: uint32(value) });
/** `value` as a 32-bit float in the file. */
export const f32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return { type: VALUE.f32, bytes };
};

/**
 * `metadata`: key -> u32(...), f32(...), boolean, string, array of strings or Int32Array.
 * `tensors`: {name, shape (fastest dimension first), ggmlType, numBytes}; `chunksOf(tensor)` gives
 * their bytes in pieces. The file gets its name when it is whole.
 */
export function writeGguf(path, { metadata, tensors, chunksOf }) {
  const unfinished = `${path}.part`;
  const file = openSync(unfinished, "w");
  try {
    writeAll(file, padded(ggufHead(metadata, tensors)));
    for (const tensor of tensors) {
      let numBytes = 0;
      for (const chunk of chunksOf(tensor)) {
        writeAll(file, chunk);
        numBytes += chunk.length;
      }
      if (numBytes !== tensor.numBytes) {
        throw new Error(`${tensor.name} has ${numBytes} bytes, its shape ${tensor.numBytes}`);
      }
      writeAll(file, Buffer.alloc(aligned(numBytes) - numBytes));
    }
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
}

/** Everything in front of the tensors' bytes, without padding. */
export function ggufHead(metadata, tensors) {
  const entries = Object.entries(metadata);
  let offset = 0;
  const table = tensors.flatMap(({ name, shape, ggmlType, numBytes }) => {
    const entry = [string(name), uint32(shape.length), ...shape.map(uint64), uint32(ggmlType)];
    entry.push(uint64(offset));
    offset += aligned(numBytes);
    return entry;
  });
  return Buffer.concat([
    Buffer.from("GGUF"),
    uint32(VERSION),
    uint64(tensors.length),
    uint64(entries.length),
    ...entries.flatMap(([key, value]) => [string(key), ...typed(value)]),
    ...table,
  ]);
}

function typed(value) {
  if (typeof value === "string") return [uint32(VALUE.string), string(value)];
  if (typeof value === "boolean") return [uint32(VALUE.bool), Buffer.of(value ? 1 : 0)];
  if (value instanceof Int32Array) {
    const { buffer, byteOffset, byteLength } = value;
    return [...array(VALUE.i32, value.length), Buffer.from(buffer, byteOffset, byteLength)];
  }
  if (Array.isArray(value)) return [...array(VALUE.string, value.length), ...value.map(string)];
  return [uint32(value.type), value.bytes];
}

const array = (type, length) => [uint32(VALUE.array), uint32(type), uint64(length)];

const aligned = (numBytes) => Math.ceil(numBytes / ALIGNMENT) * ALIGNMENT;

const padded = (bytes) =>
  Buffer.concat([bytes, Buffer.alloc(aligned(bytes.length) - bytes.length)]);

function string(text) {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function writeAll(file, bytes) {
  let at = 0;
  while (at < bytes.length) at += writeSync(file, bytes, at);
}
