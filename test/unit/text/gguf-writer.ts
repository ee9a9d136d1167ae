/** Writes the metadata of a GGUF file, version 3, without tensors. */

export type GgufMetadata = Readonly<
  Record<string, string | number | boolean | readonly string[] | Int32Array | Float32Array>
>;

// Value types of the format.
const INT32 = 5;
const FLOAT32 = 6;
const BOOL = 7;
const STRING = 8;
const ARRAY = 9;

export function ggufBytes(metadata: GgufMetadata): Uint8Array {
  const entries = Object.entries(metadata);
  return Buffer.concat([
    Buffer.from("GGUF"),
    uint32(3),
    uint64(0),
    uint64(entries.length),
    ...entries.flatMap(([key, value]) => [string(key), ...typedValue(value)]),
  ]);
}

function typedValue(value: GgufMetadata[string]): readonly Uint8Array[] {
  if (typeof value === "string") return [uint32(STRING), string(value)];
  if (typeof value === "number") return [uint32(INT32), uint32(value)];
  if (typeof value === "boolean") return [uint32(BOOL), Uint8Array.of(value ? 1 : 0)];
  const array = (type: number, ...elements: readonly Uint8Array[]): readonly Uint8Array[] => [
    uint32(ARRAY),
    uint32(type),
    uint64(value.length),
    ...elements,
  ];
  if (value instanceof Int32Array) return array(INT32, new Uint8Array(value.buffer));
  if (value instanceof Float32Array) return array(FLOAT32, new Uint8Array(value.buffer));
  return array(STRING, ...value.map(string));
}

function string(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
