// Seeds of the native targets from the fixture models: those in test/golden, and all of them where
// WARMLOOP_TEST_DATA has more. One file a model, the smallest, since structure is what is mutated.
// tiny_seeds.cpp makes smaller ones; these have vocabularies and block formats.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { metadataOnly } from "../test/gguf-metadata.ts";

const ROOT = path.resolve(import.meta.dirname, "..");

function modelFolders() {
  const roots = [path.join(ROOT, "test/golden/models")];
  const data = process.env.WARMLOOP_TEST_DATA;
  if (data !== undefined) roots.push(path.join(data, "fixtures/models"));
  return roots.flatMap((root) =>
    readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => path.join(root, entry.name)),
  );
}

const listOrNone = (folder) => {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
};

function ggufSeeds() {
  return modelFolders().flatMap((folder) => {
    const files = listOrNone(path.join(folder, "gguf"))
      .filter((name) => name.endsWith(".gguf.gz") && !name.includes("-of-"))
      .map((name) => ({ name, bytes: unpack(path.join(folder, "gguf", name)) }))
      .sort((a, b) => a.bytes.length - b.bytes.length);
    return files.slice(0, 1);
  });
}

function unpack(file) {
  const bytes = readFileSync(file);
  return file.endsWith(".gz") ? gunzipSync(bytes) : bytes;
}

/** A folder as one input: safetensors_target.cpp has the layout. */
function packFolder(config, weights, hasIndex) {
  const headerBytes = Number(weights.readBigUInt64LE(0));
  const header = JSON.parse(weights.subarray(8, 8 + headerBytes).toString());
  const names = Object.keys(header).filter((name) => name !== "__metadata__");
  const map = Object.fromEntries(names.map((name) => [name, "model.safetensors"]));
  const index = Buffer.from(hasIndex ? JSON.stringify({ weight_map: map }) : "");
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(config.length, 0);
  lengths.writeUInt32LE(index.length, 4);
  return Buffer.concat([lengths, config, index, weights]);
}

function safetensorsSeeds() {
  const folders = modelFolders().flatMap((folder) => {
    const hf = path.join(folder, "hf");
    const name = ["model.safetensors.gz", "model.safetensors"].find((file) =>
      listOrNone(hf).includes(file),
    );
    if (name === undefined) return [];
    const config = readFileSync(path.join(hf, "config.json"));
    return [{ name: path.basename(folder), config, weights: unpack(path.join(hf, name)) }];
  });
  return folders.flatMap(({ name, config, weights }) =>
    [false, true].map((hasIndex) => ({
      name: `${name}${hasIndex ? "-index" : ""}`,
      bytes: packFolder(config, weights, hasIndex),
    })),
  );
}

/** tokenizer_target.cpp has the layout: a length of 32 bits, a vocabulary, a text to encode. */
function tokenizerSeeds() {
  const root = path.join(ROOT, "test/golden/tokenizers");
  const texts = ["Hello  world!\n\n123 don't é🙂 <|im_end|> \t x", "".padEnd(300, "ab "), ""];
  const vocabularies = [
    ...listOrNone(root).map((name) => ({
      name,
      bytes: readFileSync(path.join(root, name, "tokenizer.json")),
    })),
    // Tensors say nothing to a tokenizer: metadata is all that is kept.
    ...ggufSeeds().map(({ name, bytes }) => ({ name, bytes: metadataOnly(bytes) })),
  ];
  return vocabularies.map(({ name, bytes }, index) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return {
      name,
      bytes: Buffer.concat([length, bytes, Buffer.from(texts[index % texts.length])]),
    };
  });
}

/** grammar_target.cpp has the layout: a byte for the kind, then the text. */
function grammarSeeds() {
  const item = { $ref: "#/$defs/item" };
  const schemas = [
    { type: "object", properties: { a: { type: "string", pattern: "^[a-z]+$", maxLength: 9 } } },
    { $defs: { item: { anyOf: [{ type: "array", items: item }, { enum: [1, "x"] }] } }, ...item },
    {
      oneOf: [
        { type: "integer", minimum: -5, multipleOf: 3 },
        { type: "string", format: "date" },
      ],
    },
    {
      patternProperties: { "^x": { maximum: 1.5 } },
      propertyNames: { maxLength: 3 },
      minProperties: 1,
      allOf: [{ required: ["xa"] }, { additionalProperties: false }],
    },
  ];
  const specs = [
    ...schemas.map((schema) => ({ json_schema: schema, whitespace: "any" })),
    { sequence: [{ text_until: "<a>" }, { repeat: { regex: "\\d{2}|\\p{L}" }, max: 3 }] },
  ];
  const lark =
    'start: A+ | "x"~2..3 -> b\nA: /[a-c]/i B?\nB: "0".."9"\n%import common.WS\n%ignore WS';
  const texts = [...specs.map((spec) => `s${JSON.stringify(spec)}`), "r^(a|b)*c{2,}$", `l${lark}`];
  return texts.map((text, index) => ({ name: `grammar-${index}`, bytes: Buffer.from(text) }));
}

const SEEDS = {
  gguf: ggufSeeds,
  safetensors: safetensorsSeeds,
  tokenizer: tokenizerSeeds,
  grammar: grammarSeeds,
};

/** Writes the seeds of a target into a folder. */
export function writeSeeds(target, folder) {
  mkdirSync(folder, { recursive: true });
  for (const { name, bytes } of SEEDS[target]()) writeFileSync(path.join(folder, name), bytes);
}
