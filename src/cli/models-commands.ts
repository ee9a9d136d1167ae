/** `warmloop models list | pull | inspect`. */
import { ExitError } from "../base/exit-error.ts";
import { formatBytes, printable } from "../base/format.ts";
import type { Config } from "../config/load-config.ts";
import { describeInspection } from "../models/describe-inspection.ts";
import { fetchModel } from "../models/fetch-model.ts";
import { defaultModel, findModel, loadManifest } from "../models/manifest.ts";
import { isCached } from "../models/model-cache.ts";
import { createProgress } from "../models/progress.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { loadAddon } from "../native/load-addon.ts";
import { loadTextModel } from "../text/load-text-model.ts";

export function listModels({ model: { modelsDir } }: Config): void {
  for (const model of loadManifest().models) {
    const state = isCached(modelsDir, model) ? "downloaded" : "not downloaded";
    const isDefault = model.default === true ? ", default" : "";
    const facts = [formatBytes(model.bytes), model.license.name, state + isDefault];
    process.stdout.write(`${model.id}  ${facts.join(", ")}\n`);
  }
}

export async function pullModel(id: string | undefined, { model }: Config): Promise<void> {
  const manifest = loadManifest();
  const wanted = id === undefined ? defaultModel(manifest) : findModel(manifest, id);
  if (wanted === undefined) {
    throw new ExitError("usage", `models pull ${id}: unknown; "models list" shows the known ids`);
  }
  const file = await fetchModel(wanted, { ...model, progress: createProgress(process.stderr) });
  process.stdout.write(`${file}\n`);
}

/** @throws {ExitError} modelFile after printing, when the engine would refuse the file */
export function inspectModel(wanted: string, { model: { modelsDir } }: Config): void {
  const model = resolveModel(wanted, loadManifest(), modelsDir);
  if (model.manifestModel !== undefined && !isCached(modelsDir, model.manifestModel)) {
    throw new ExitError("modelFile", `${model.id} is not downloaded: "models pull ${model.id}"`);
  }
  const inspection = loadAddon().inspectModel(model.path);
  process.stdout.write(`${describeInspection(model, inspection).join("\n")}\n`);
  if (inspection.refusal !== undefined) throw new ExitError("modelFile", inspection.refusal);
  const { chatWarning } = loadTextModel(model.path, inspection);
  if (chatWarning !== undefined) process.stdout.write(`warning: ${printable(chatWarning)}\n`);
}
