/** What the user named: a manifest id, a model of a hub, a GGUF file or a safetensors folder. */
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { ExitError } from "../base/exit-error.ts";
import { cachedHubModel } from "./hub-cache.ts";
import {
  ggufShards,
  type HubReference,
  hubModelId,
  isHubReference,
  parseHubReference,
} from "./hub-reference.ts";
import { defaultModel, findModel, type Manifest, type ManifestModel } from "./manifest.ts";
import { cachedFile, isCached } from "./model-cache.ts";
import { sizeOf } from "./part-file.ts";

/** `id` is what clients use unless an alias is set. */
export type ResolvedModel =
  | { readonly kind: "local"; readonly id: string; readonly path: string }
  | { readonly kind: "manifest"; readonly id: string; readonly model: ManifestModel }
  | { readonly kind: "hub"; readonly id: string; readonly reference: HubReference };

export type DownloadableModel = Exclude<ResolvedModel, { readonly kind: "local" }>;

/** @throws {ExitError} modelFile: neither an id nor something that exists; usage: a wrong reference */
export function resolveModel(wanted: string | undefined, manifest: Manifest): ResolvedModel {
  const downloadable = resolveDownloadable(wanted, manifest);
  if (downloadable !== undefined) return downloadable;
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
  return { kind: "local", id: name.toLowerCase(), path: file };
}

/** A model that can be fetched, by its name. @throws {ExitError} usage: a wrong hub reference */
export function resolveDownloadable(
  wanted: string | undefined,
  manifest: Manifest,
): DownloadableModel | undefined {
  const model = wanted === undefined ? defaultModel(manifest) : findModel(manifest, wanted);
  if (model !== undefined) return { kind: "manifest", id: model.id, model };
  if (wanted === undefined || !isHubReference(wanted)) return undefined;
  const reference = parseHubReference(wanted);
  return { kind: "hub", id: hubModelId(reference), reference };
}

/** Where the model lies, whole; undefined while it has to be downloaded. */
export function pathOnDisk(model: ResolvedModel, modelsDir: string): string | undefined {
  switch (model.kind) {
    case "local":
      return model.path;
    case "manifest":
      return isCached(modelsDir, model.model) ? cachedFile(modelsDir, model.model) : undefined;
    case "hub":
      return cachedHubModel(modelsDir, model.reference);
  }
}

/** Bytes of the model's weights; undefined for one of a hub that was not downloaded. */
export function weightBytes(model: ResolvedModel, modelsDir: string): number | undefined {
  if (model.kind === "manifest") return model.model.bytes;
  const file = pathOnDisk(model, modelsDir);
  return file === undefined ? undefined : weightBytesAt(file);
}

/** Bytes of the weights at a path for the engine. */
export function weightBytesAt(modelPath: string): number {
  const isFolder = statSync(modelPath).isDirectory();
  const folder = isFolder ? modelPath : path.dirname(modelPath);
  const names = isFolder
    ? readdirSync(modelPath).filter((name) => name.endsWith(".safetensors"))
    : ggufShards(path.basename(modelPath));
  return names.reduce((sum, name) => sum + sizeOf(path.join(folder, name)), 0);
}
