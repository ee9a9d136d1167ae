/**
 * Files of random weights in the shapes of shapes.mjs, made on first use in bench/scratch/models:
 *
 *   node bench/models/random-model.mjs [NAME...]
 *
 * All six take 4.2 GB. A file is made again when what it is made of has changed.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { writeGguf } from "./gguf-file.mjs";
import { madeUpVocabulary } from "./made-up-vocabulary.mjs";
import { randomTensors, seededWords } from "./random-blocks.mjs";
import { metadataOf, RANDOM_MODELS, tensorsOf } from "./shapes.mjs";

const FOLDER = path.resolve(import.meta.dirname, "../scratch/models");
const SEED = 1;
const NAMES = RANDOM_MODELS.map(({ name }) => name);

/** Changes when one of the files does that decide what is written. */
function recipeKey() {
  const hash = createHash("sha256");
  for (const file of readdirSync(import.meta.dirname).sort()) {
    hash.update(readFileSync(path.join(import.meta.dirname, file)));
  }
  return hash.digest("hex").slice(0, 8);
}

/** What writeGguf takes, for a model as in RANDOM_MODELS; `random` fills arrays of words. */
export function contentOf(model, random) {
  const { tokens, types, merges } = madeUpVocabulary(model.shape.vocab, model.shape.controls);
  return {
    metadata: {
      ...metadataOf(model),
      "tokenizer.ggml.tokens": tokens,
      "tokenizer.ggml.token_type": types,
      "tokenizer.ggml.merges": merges,
    },
    ...randomTensors(tensorsOf(model), random),
  };
}

/** Path of the file with this name of RANDOM_MODELS, written if it is not there. */
export function randomModel(name) {
  const model = RANDOM_MODELS.find((known) => known.name === name);
  if (model === undefined) {
    throw new Error(`no model ${name}, there are ${NAMES.join(", ")}`);
  }
  const file = path.join(FOLDER, recipeKey(), `${name}.gguf`);
  if (existsSync(file)) return file;
  removeOutdated();
  mkdirSync(path.dirname(file), { recursive: true });
  process.stderr.write(`writing ${name}\n`);
  writeGguf(file, contentOf(model, seededWords(SEED)));
  return file;
}

function removeOutdated() {
  if (!existsSync(FOLDER)) return;
  for (const folder of readdirSync(FOLDER)) {
    if (folder !== recipeKey()) rmSync(path.join(FOLDER, folder), { recursive: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const names = process.argv.slice(2);
  for (const name of names.length > 0 ? names : NAMES) {
    console.log(randomModel(name));
  }
}
