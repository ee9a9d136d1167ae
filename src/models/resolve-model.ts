/** From what the user named to files: a manifest id, a GGUF file or a safetensors folder. */
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { ExitError } from "../base/exit-error.ts";
import { defaultModel, findModel, type Manifest, type ManifestModel } from "./manifest.ts";
import { cachedFile } from "./model-cache.ts";

export interface ResolvedModel {
  /** Id that clients use unless an alias is set. */
  readonly id: string;
  /** A GGUF file or a folder; for a manifest model it may not be there yet. */
  readonly path: string;
  /** Present for a model of the manifest, which can be downloaded. */
  readonly manifestModel?: ManifestModel;
}

/** @throws {ExitError} modelFile: neither an id nor something that exists */
export function resolveModel(
  wanted: string | undefined,
  manifest: Manifest,
  modelsDir: string,
): ResolvedModel {
  const manifestModel = wanted === undefined ? defaultModel(manifest) : findModel(manifest, wanted);
  if (manifestModel !== undefined) {
    return { id: manifestModel.id, path: cachedFile(modelsDir, manifestModel), manifestModel };
  }
  const file = path.resolve(wanted ?? "");
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) {
    const known = manifest.models.map(({ id }) => id).join(", ");
    throw new ExitError(
      "modelFile",
      `--model ${wanted}: no such file or folder, and no model of that id (known: ${known})`,
    );
  }
  const name = stat.isDirectory() ? path.basename(file) : path.parse(file).name;
  return { id: name.toLowerCase(), path: file };
}

/** Bytes of the model's weights, before anything was opened or downloaded. */
export function weightBytes(model: ResolvedModel): number {
  if (model.manifestModel !== undefined) return model.manifestModel.bytes;
  const stat = statSync(model.path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(model.path)
    .filter((name) => name.endsWith(".safetensors"))
    .reduce((sum, name) => sum + statSync(path.join(model.path, name)).size, 0);
}
