/**
 * Where a model of the manifest lies once it was downloaded, for tests that run on real weights. They
 * skip without it, as no test downloads another model than the default:
 * `const gemma = cachedModel("gemma-3-270m"); describe.skipIf(gemma === undefined)(...)`.
 */
import { loadConfig } from "../src/config/load-config.ts";
import { findModel, loadManifest } from "../src/models/manifest.ts";
import { cachedFile, isCached } from "../src/models/model-cache.ts";

/** The verified file; undefined while it is not downloaded. @throws {Error} for an unknown id */
export function cachedModel(id: string): string | undefined {
  const model = findModel(loadManifest(), id);
  if (model === undefined) throw new Error(`models/manifest.json has no ${id}`);
  const { modelsDir } = loadConfig({ flags: {}, env: process.env }).model;
  return isCached(modelsDir, model) ? cachedFile(modelsDir, model) : undefined;
}
