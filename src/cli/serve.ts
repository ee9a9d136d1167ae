/**
 * `warmloop serve`, first half: what can be known without loading anything. The server itself is
 * imported afterwards, so that a small container ends with a sentence instead of being killed.
 */
import type { Config } from "../config/load-config.ts";
import { loadManifest } from "../models/manifest.ts";
import { resolveModel, weightBytes } from "../models/resolve-model.ts";
import { planKvFor } from "./memory-plan.ts";

export async function serve(config: Config): Promise<void> {
  const model = resolveModel(config.model.model, loadManifest());
  const knownBytes = weightBytes(model, config.model.modelsDir);
  if (knownBytes !== undefined) planKvFor(config, knownBytes);
  const { startServer } = await import("./start-server.ts");
  await startServer(config, model);
}
