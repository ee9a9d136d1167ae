/** `warmloop models list | pull | inspect`. */
import { ExitError, usageError } from "../base/exit-error.ts";
import { formatBytes, printable } from "../base/format.ts";
import type { Config } from "../config/load-config.ts";
import { describeInspection } from "../models/describe-inspection.ts";
import { fetchModel } from "../models/fetch-model.ts";
import { loadManifest } from "../models/manifest.ts";
import { isCached } from "../models/model-cache.ts";
import { pathOnDisk, resolveDownloadable, resolveModel } from "../models/resolve-model.ts";
import { loadAddon } from "../native/load-addon.ts";
import { loadTextModel } from "../text/load-text-model.ts";
import { fetchOptions } from "./fetch-options.ts";

export function listModels({ model: { modelsDir } }: Config): void {
  for (const model of loadManifest().models) {
    const state = isCached(modelsDir, model) ? "downloaded" : "not downloaded";
    const isDefault = model.default === true ? ", default" : "";
    const facts = [formatBytes(model.bytes), model.license.name, state + isDefault];
    process.stdout.write(`${model.id}  ${facts.join(", ")}\n`);
  }
}

export async function pullModel(wanted: string | undefined, config: Config): Promise<void> {
  const model = resolveDownloadable(wanted, loadManifest());
  if (model === undefined) {
    throw usageError(
      `models pull ${wanted}: unknown; "models list" shows the known ids, ` +
        "hf:OWNER/REPO/FILE.gguf is a file of the hub",
    );
  }
  const file = await fetchModel(model, { ...fetchOptions(config), refresh: true });
  process.stdout.write(`${file}\n`);
}

/** @throws {ExitError} modelFile after printing, when the engine would refuse the file */
export function inspectModel(wanted: string, { model: { modelsDir } }: Config): void {
  const model = resolveModel(wanted, loadManifest());
  const file = pathOnDisk(model, modelsDir);
  if (file === undefined) {
    throw new ExitError("modelFile", `${wanted} is not downloaded: "models pull ${wanted}"`);
  }
  const inspection = loadAddon().inspectModel(file);
  process.stdout.write(`${describeInspection(model.id, file, inspection).join("\n")}\n`);
  if (inspection.refusal !== undefined) throw new ExitError("modelFile", inspection.refusal);
  const { chatWarning } = loadTextModel(file, inspection);
  if (chatWarning !== undefined) process.stdout.write(`warning: ${printable(chatWarning)}\n`);
}
