/** Where the manifest's models lie in the cache, shared by all clones and processes: `<folder>/<id>/<file>`. */
import { statSync } from "node:fs";
import path from "node:path";
import type { ManifestModel } from "./manifest.ts";

export function cachedFile(modelsDir: string, model: ManifestModel): string {
  return path.join(modelsDir, model.id, model.file);
}

/** The file is there, whole. Its checksum was verified before it got this name. */
export function isCached(modelsDir: string, model: ManifestModel): boolean {
  const stat = statSync(cachedFile(modelsDir, model), { throwIfNoEntry: false });
  return stat?.size === model.bytes;
}
