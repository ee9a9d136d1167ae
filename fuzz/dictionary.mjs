// Dictionaries of the native targets: the names that the readers know, taken from the string literals
// of their sources. libFuzzer puts whole names where bytes alone would rarely spell one.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const NATIVE = path.resolve(import.meta.dirname, "../native");
const CONTAINERS = ["base/dtype.cpp", "loader"];
const READERS = {
  gguf: [...CONTAINERS, "models", "tokenizer"],
  safetensors: [...CONTAINERS, "base/json.cpp", "models"],
  tokenizer: ["base/json.cpp", "loader/tokenizer_metadata.cpp", "tokenizer"],
  grammar: ["grammar"],
};
const MAX_ENTRY_BYTES = 64; // libFuzzer leaves out what is longer
const NAME = /^[\w.<>|-]{2,48}$/; // what has spaces is a sentence
const ARCHITECTURE = /\.name = "([^"]+)"/g;
const METADATA_KEY = /\bKey k\w+\{"([^"]+)"/g; // the name behind "ARCHITECTURE." or "ARCHITECTURE.rope."

function sourceOf(relative) {
  if (relative.includes(".")) return readFileSync(path.join(NATIVE, relative), "utf8");
  return readdirSync(path.join(NATIVE, relative), { recursive: true })
    .filter((name) => /\.(cpp|h)$/.test(name))
    .map((name) => readFileSync(path.join(NATIVE, relative, name), "utf8"))
    .join("\n");
}

const firstGroups = (text, pattern) => [...text.matchAll(pattern)].map(([, group]) => group);

function namesIn(source) {
  const code = source.replace(/^#include.*$/gm, "");
  return firstGroups(code, /"((?:[^"\\\n]|\\.)*)"/g).filter((literal) => NAME.test(literal));
}

/** Metadata keys of every architecture and of tokenizers. */
function metadataKeys(source, names) {
  const keys = firstGroups(source, METADATA_KEY);
  const ofModels = firstGroups(source, ARCHITECTURE).flatMap((architecture) =>
    keys.flatMap((key) => [`${architecture}.${key}`, `${architecture}.rope.${key}`]),
  );
  return [...ofModels, ...names.map((name) => `tokenizer.ggml.${name}`)];
}

/** A string of a GGUF file: its length in 64 bits, little-endian, then the bytes. */
function ggufString(text) {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([length, bytes]);
}

function entriesOf(target, source) {
  const names = namesIn(source);
  const asJson = names.map((name) => Buffer.from(`"${name}"`));
  if (target === "safetensors" || target === "grammar") return asJson;
  const asGguf = [...names, ...metadataKeys(source, names)].map(ggufString);
  return target === "tokenizer" ? [...asJson, ...asGguf] : asGguf;
}

const escaped = (bytes) => [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`);

/** Writes the dictionary of a target. */
export function writeDictionary(target, file) {
  const source = READERS[target].map(sourceOf).join("\n");
  const entries = entriesOf(target, source).filter((entry) => entry.length <= MAX_ENTRY_BYTES);
  const lines = new Set(entries.map((entry) => `"${escaped(entry).join("")}"\n`));
  writeFileSync(file, [...lines].join(""));
}
