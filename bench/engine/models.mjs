/** The files that are measured: real ones from the model cache, random ones made here. */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { loadConfig } from "../../dist/config/load-config.js";
import { findModel, loadManifest } from "../../dist/models/manifest.js";
import { cachedFile, isCached } from "../../dist/models/model-cache.js";
import { randomModel } from "../models/random-model.mjs";
import { RANDOM_MODELS } from "../models/shapes.mjs";

const CLI = path.resolve(import.meta.dirname, "../../dist/cli/main.js");

/** The default model, downloaded if it has to be. */
export function locateDefaultModel() {
  const options = { stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" };
  return execFileSync(process.execPath, [CLI, "models", "pull"], options).trim();
}

/** A model whose terms somebody has to accept: undefined, with a message, until that is done. */
function cachedModel(id) {
  const { modelsDir } = loadConfig({ flags: {}, env: process.env }).model;
  const model = findModel(loadManifest(), id);
  if (isCached(modelsDir, model)) return cachedFile(modelsDir, model);
  process.stderr.write(
    `skipping ${id}: npm run warmloop -- models pull ${id} --accept-license fetches it\n`,
  );
  return undefined;
}

/** `SmolLM2-135M-Instruct.Q4_1.gguf` -> `smollm2-q4_1`: family and weight type. */
export function shortName(modelPath) {
  const stem = path.parse(modelPath).name.toLowerCase();
  const match = /^([^-.]+).*[-.]((?:q\d|f|bf)\w+)$/.exec(stem);
  return match === null ? stem : `${match[1]}-${match[2]}`;
}

export const REAL_MODELS = [
  { name: "smollm2-q4_1", locate: locateDefaultModel },
  { name: "gemma-q4_k_m", locate: () => cachedModel("gemma-3-270m") },
];

/** {name, locate} of the models to measure: all, or only the one at `modelPath`. */
export function benchModels(modelPath) {
  if (modelPath !== undefined) {
    return [{ name: shortName(modelPath), locate: () => path.resolve(modelPath) }];
  }
  const random = RANDOM_MODELS.map(({ name }) => ({ name, locate: () => randomModel(name) }));
  return [...REAL_MODELS, ...random];
}
