/** Damaged copies of the fixture models, as the cases of kind `file` describe them. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { FIXTURE_MODELS } from "../../fixture-models.ts";
import { editMetadata } from "../../gguf-metadata.ts";

/** One change; the keys are those of the case files. */
export interface Mutation {
  /** Inside a model folder; absent where the model is one file. */
  readonly file?: string;
  readonly kv?: string;
  readonly value?: number | string;
  readonly set_all?: number;
  readonly retype?: "u8";
  readonly rename_shard?: readonly [string, string];
  readonly append_bytes?: number;
  readonly truncate_bytes?: number;
  readonly truncate_fraction?: number;
  readonly truncate_to_header?: boolean;
  readonly replace_text?: string;
  readonly replace_hex?: string;
}

export interface FileCase {
  /** `fixture:MODEL/VARIANT`; the variant `hf` is a folder. */
  readonly base: string;
  readonly mutate: readonly (Mutation & { readonly variants?: readonly Mutation[] })[];
}

/** One damaged model for each variant of the case. Returns their paths. */
export function writeMutatedModels({ base, mutate }: FileCase): string[] {
  const mutations = mutate.flatMap((mutation) => mutation.variants ?? [mutation]);
  return mutations.map((mutation) => {
    const model = unpackModel(base);
    const file = mutation.file === undefined ? model : path.join(model, mutation.file);
    writeFileSync(file, applyMutation(readFileSync(file), mutation));
    return model;
  });
}

/** A fixture model as a file or folder of its own. `base` is as in a case. */
export function unpackModel(base: string): string {
  const [name = "", variant = ""] = base.replace(/^fixture:/, "").split("/");
  const source = path.join(FIXTURE_MODELS, name);
  const target = mkdtempSync(path.join(tmpdir(), "warmloop-case-"));
  if (variant === "hf") {
    cpSync(path.join(source, "hf"), target, { recursive: true });
    for (const entry of readdirSync(target)) unpackFile(path.join(target, entry));
    return target;
  }
  const file = path.join(target, `${name}.gguf`);
  const packed = path.join(source, "gguf", `${name}.${variant}.gguf.gz`);
  writeFileSync(file, gunzipSync(readFileSync(packed)));
  return file;
}

function unpackFile(file: string): void {
  if (!file.endsWith(".gz") || existsSync(file.slice(0, -3))) return;
  writeFileSync(file.slice(0, -3), gunzipSync(readFileSync(file)));
}

function applyMutation(bytes: Buffer, mutation: Mutation): Buffer {
  const { kv, rename_shard: rename } = mutation;
  if (kv !== undefined) return editMetadata(bytes, kv, metadataEdit(mutation));
  if (rename !== undefined) return Buffer.from(bytes.toString().replaceAll(rename[0], rename[1]));
  if (mutation.append_bytes !== undefined) {
    return Buffer.concat([bytes, Buffer.alloc(mutation.append_bytes)]);
  }
  if (mutation.truncate_bytes !== undefined) return bytes.subarray(0, -mutation.truncate_bytes);
  if (mutation.truncate_fraction !== undefined) {
    return bytes.subarray(0, bytes.length * mutation.truncate_fraction);
  }
  if (mutation.truncate_to_header) return bytes.subarray(0, 8 + Number(bytes.readBigUInt64LE(0)));
  if (mutation.replace_text !== undefined) return Buffer.from(mutation.replace_text);
  if (mutation.replace_hex !== undefined) return Buffer.from(mutation.replace_hex, "hex");
  throw new Error(`unknown mutation ${JSON.stringify(mutation)}`);
}

function metadataEdit({ value, set_all: setAll, retype }: Mutation) {
  if (setAll !== undefined) return { setAll };
  if (retype !== undefined) return { retype };
  return { value: Number(value) };
}
