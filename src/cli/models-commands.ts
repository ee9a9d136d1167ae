/** `warmloop models list | pull | remove | inspect`. */
import { ExitError, usageError } from "../base/exit-error.ts";
import { formatBytes } from "../base/format.ts";
import type { Config } from "../config/load-config.ts";
import { fetchModel } from "../models/fetch-model.ts";
import { cachedHubModels } from "../models/hub-cache.ts";
import { loadManifest } from "../models/manifest.ts";
import { isCached } from "../models/model-cache.ts";
import { removeModel as removeFromCache } from "../models/remove-model.ts";
import {
  type DownloadableModel,
  pathOnDisk,
  resolveDownloadable,
  resolveModel,
  weightBytesAt,
} from "../models/resolve-model.ts";
import type { ModelInspection } from "../native/addon-types.ts";
import { loadAddon } from "../native/load-addon.ts";
import { describeReport } from "./describe-report.ts";
import { fetchOptions } from "./fetch-options.ts";
import { refusalOf, reportInspection } from "./inspection-report.ts";
import { leastKvBytes } from "./kv-needs.ts";
import { planKvFor } from "./memory-plan.ts";

export function listModels({ model: { modelsDir } }: Config): void {
  for (const model of loadManifest().models) {
    const state = isCached(modelsDir, model) ? "downloaded" : "not downloaded";
    const isDefault = model.default === true ? ", default" : "";
    const facts = [formatBytes(model.bytes), model.license.name, state + isDefault];
    process.stdout.write(`${model.id}  ${facts.join(", ")}\n`);
  }
  for (const { name, path } of cachedHubModels(modelsDir)) {
    process.stdout.write(`${name}  ${formatBytes(weightBytesAt(path))}, downloaded\n`);
  }
}

export async function pullModel(wanted: string | undefined, config: Config): Promise<void> {
  const model = downloadable("pull", wanted);
  const file = await fetchModel(model, { ...fetchOptions(config), refresh: true });
  process.stdout.write(`${file}\n`);
}

export function removeModel(wanted: string, { model: { modelsDir } }: Config): void {
  const bytes = removeFromCache(modelsDir, downloadable("remove", wanted));
  if (bytes === undefined) throw new ExitError("modelFile", `${wanted} is not downloaded`);
  process.stdout.write(`removed ${wanted}, ${formatBytes(bytes)}\n`);
}

/** @throws {ExitError} usage */
function downloadable(command: string, wanted: string | undefined): DownloadableModel {
  const model = resolveDownloadable(wanted, loadManifest());
  if (model !== undefined) return model;
  throw usageError(
    `models ${command} ${wanted}: unknown; "models list" shows the known ids, ` +
      "hf:OWNER/REPO/FILE.gguf is a file of the hub",
  );
}

/** @throws {ExitError} modelFile after printing, when the engine would refuse the file here */
export function inspectModel(wanted: string, asJson: boolean, config: Config): void {
  const model = resolveModel(wanted, loadManifest());
  const file = pathOnDisk(model, config.model.modelsDir);
  if (file === undefined) {
    throw new ExitError("modelFile", `${wanted} is not downloaded: "models pull ${wanted}"`);
  }
  const license = model.kind === "manifest" ? model.model.license.name : undefined;
  const inspected = { id: model.id, path: file, ...(license !== undefined && { license }) };
  let inspection: ModelInspection;
  try {
    inspection = loadAddon().inspectModel(file);
  } catch (error) {
    if (asJson) printJson({ ...inspected, refusals: [refusalOf(error)] });
    throw error;
  }
  const checkMemory = (weightBytes: number): void => {
    const isSound = inspection.refusals.length === 0; // else nobody knows what KV costs
    const leastKv = isSound ? leastKvBytes(file, inspection.context, config.engine) : undefined;
    planKvFor(config, weightBytes, leastKv);
  };
  const report = reportInspection(inspected, inspection, checkMemory);
  if (asJson) printJson(report);
  else process.stdout.write(`${describeReport(report).join("\n")}\n`);
  const [first, ...others] = report.refusals;
  if (first === undefined) return;
  const more = others.length > 0 ? `, and ${others.length} more reasons, see above` : "";
  throw new ExitError("modelFile", `${first.code}: ${first.message}${more}`);
}

function printJson(value: object): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
