/** A small GGUF metadata reader for tests: enough to make the inspection that tokenizers are built from. */

import type { MetadataValue, ModelInspection } from "../../../src/native/addon-types.ts";

const TYPE_STRING = 8;
const TYPE_ARRAY = 9;

export function inspectGguf(bytes: Buffer): ModelInspection {
  const reader = new Reader(bytes);
  if (reader.take(4).toString("latin1") !== "GGUF") throw new Error("not a GGUF file");
  reader.take(4 + 8);
  const metadata: Record<string, MetadataValue> = {};
  const count = reader.u64();
  for (let i = 0; i < count; i++) {
    const key = reader.string();
    metadata[key] = reader.value(reader.u32());
  }
  return makeInspection({ container: "gguf", metadata });
}

export function makeInspection(fields: Partial<ModelInspection>): ModelInspection {
  return {
    container: "safetensors",
    arch: "llama",
    context: 512,
    numLayers: 1,
    hidden: 64,
    ffn: 64,
    numHeads: 1,
    numKvHeads: 1,
    headDim: 64,
    vocab: 512,
    weightBytes: 0,
    kvBytesPerToken: 0,
    tensors: [],
    metadata: {},
    ...fields,
  };
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(length: number): Buffer {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  u32(): number {
    return this.take(4).readUInt32LE();
  }

  u64(): number {
    return Number(this.take(8).readBigUInt64LE());
  }

  string(): string {
    return this.take(this.u64()).toString("utf8");
  }

  value(type: number): MetadataValue {
    if (type === TYPE_STRING) return this.string();
    if (type === TYPE_ARRAY) return this.#array(this.u32(), this.u64());
    return this.#scalar(type);
  }

  #array(type: number, length: number): MetadataValue {
    if (type === TYPE_STRING) return Array.from({ length }, () => this.string());
    return Float64Array.from({ length }, () => Number(this.#scalar(type)));
  }

  #scalar(type: number): number | boolean {
    switch (type) {
      case 0:
        return this.take(1).readUInt8();
      case 1:
        return this.take(1).readInt8();
      case 2:
        return this.take(2).readUInt16LE();
      case 3:
        return this.take(2).readInt16LE();
      case 4:
        return this.take(4).readUInt32LE();
      case 5:
        return this.take(4).readInt32LE();
      case 6:
        return this.take(4).readFloatLE();
      case 7:
        return this.take(1).readUInt8() !== 0;
      case 10:
        return this.u64();
      case 11:
        return Number(this.take(8).readBigInt64LE());
      case 12:
        return this.take(8).readDoubleLE();
      default:
        throw new Error(`unknown metadata type ${type}`);
    }
  }
}
