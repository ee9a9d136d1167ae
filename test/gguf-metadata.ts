/** Changes metadata and tensors of a GGUF v3 file, byte by byte, without asking whether it makes sense. */

/** Bytes of each fixed-size value type, by its number in the file. */
const SCALAR_BYTES = [1, 1, 2, 2, 4, 4, 4, 1, undefined, undefined, 8, 8, 8] as const;
const TYPE = { u8: 0, i32: 5, f32: 6, u32: 4, string: 8, array: 9 } as const;
const ALIGNMENT = 32;

export type MetadataEdit =
  | { readonly value: number }
  /** Every element of an i32 array becomes this number. */
  | { readonly setAll: number }
  /** An i32 array becomes one of this type. */
  | { readonly retype: "u8" };

interface Value {
  readonly type: number;
  /** Offset behind the type's number. */
  readonly start: number;
  readonly end: number;
}

/** @throws {Error} when the file has no such key */
export function editMetadata(file: Buffer, key: string, edit: MetadataEdit): Buffer {
  const reader = new Reader(file);
  const value = reader.metadata().get(key);
  if (value === undefined) throw new Error(`the file has no key ${key}`);
  reader.tensorOffsets();
  const headEnd = reader.position;
  const head = Buffer.concat([
    file.subarray(0, value.start),
    encodeEdit(file.subarray(value.start, value.end), value.type, edit),
    file.subarray(value.end, headEnd),
  ]);
  const padding = Buffer.alloc(align(head.length) - head.length);
  return Buffer.concat([head, padding, file.subarray(align(headEnd))]);
}

/** The file's bytes of a tensor and of all tensors behind it. @throws {Error} when it has no such tensor */
export function tensorBytes(file: Buffer, name: string): Buffer {
  const reader = new Reader(file);
  reader.metadata();
  const offsets = reader.tensorOffsets();
  const offset = offsets.get(name);
  if (offset === undefined) throw new Error(`the file has no tensor ${name}`);
  return file.subarray(align(reader.position) + offset);
}

/** The file's metadata alone: a GGUF file without tensors. */
export function metadataOnly(file: Buffer): Buffer {
  const values = [...new Reader(file).metadata().values()];
  const head = Buffer.from(file.subarray(0, values.at(-1)?.end));
  head.writeBigUInt64LE(0n, 8);
  return Buffer.concat([head, Buffer.alloc(align(head.length) - head.length)]);
}

function align(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}

function encodeEdit(old: Buffer, type: number, edit: MetadataEdit): Buffer {
  if ("value" in edit) return encodeScalar(type, edit.value);
  if (type !== TYPE.array || old.readUInt32LE(0) !== TYPE.i32) throw new Error("no i32 array");
  const changed = Buffer.from(old);
  const elements = changed.subarray(12); // behind element type (u32) and count (u64)
  if ("setAll" in edit) {
    for (let k = 0; k < elements.length; k += 4) elements.writeInt32LE(edit.setAll, k);
    return changed;
  }
  changed.writeUInt32LE(TYPE[edit.retype], 0);
  return Buffer.concat([changed.subarray(0, 12), elements.filter((_byte, k) => k % 4 === 0)]);
}

function encodeScalar(type: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  if (type === TYPE.f32) bytes.writeFloatLE(value);
  else if (type === TYPE.u32) bytes.writeUInt32LE(value);
  else throw new Error(`metadata type ${type} is neither u32 nor f32`);
  return bytes;
}

class Reader {
  readonly #file: Buffer;
  readonly #numTensors: number;
  #at = 4 + 4 + 8 + 8; // magic, version, numbers of tensors and of keys

  constructor(file: Buffer) {
    this.#file = file;
    this.#numTensors = Number(file.readBigUInt64LE(8));
  }

  get position(): number {
    return this.#at;
  }

  metadata(): Map<string, Value> {
    const values = new Map<string, Value>();
    for (let left = this.#file.readBigUInt64LE(16); left > 0n; left--) {
      const key = this.#string();
      const type = this.#u32();
      const start = this.#at;
      this.#skipValue(type);
      values.set(key, { type, start, end: this.#at });
    }
    return values;
  }

  /** Where each tensor starts, counted from the start of all; to be called behind the metadata. */
  tensorOffsets(): Map<string, number> {
    const offsets = new Map<string, number>();
    for (let k = 0; k < this.#numTensors; k++) {
      const name = this.#string();
      const numDimensions = this.#u32();
      this.#at += numDimensions * 8 + 4; // dimensions, type
      offsets.set(name, this.#u64());
    }
    return offsets;
  }

  #skipValue(type: number): void {
    if (type === TYPE.string) this.#string();
    else if (type === TYPE.array) {
      const elementType = this.#u32();
      for (let left = this.#u64(); left > 0; left--) this.#skipValue(elementType);
    } else this.#at += SCALAR_BYTES[type] ?? Number.NaN;
  }

  #string(): string {
    const numBytes = this.#u64();
    this.#at += numBytes;
    return this.#file.toString("utf8", this.#at - numBytes, this.#at);
  }

  #u32(): number {
    this.#at += 4;
    return this.#file.readUInt32LE(this.#at - 4);
  }

  #u64(): number {
    this.#at += 8;
    return Number(this.#file.readBigUInt64LE(this.#at - 8));
  }
}
