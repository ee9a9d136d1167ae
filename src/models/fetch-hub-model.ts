/**
 * Makes sure that a model of a hub lies in the cache: the commit that its revision names, and which of
 * the repository's files belong to it.
 */
import { mkdir } from "node:fs/promises";
import { DownloadError, describeError } from "./download-error.ts";
import type { FetchOptions } from "./fetch-model.ts";
import {
  cachedHubModel,
  commitFolder,
  modelPath,
  recordCommit,
  recordedCommit,
} from "./hub-cache.ts";
import { HubClient, type HubRevision } from "./hub-client.ts";
import { STALL_TIMEOUT_MS } from "./hub-download.ts";
import { HubFolder } from "./hub-folder.ts";
import { type HubReference, nameAtCommit } from "./hub-reference.ts";
import { chooseGguf, chooseSafetensors } from "./hub-selection.ts";
import { explainDiskError } from "./part-file.ts";

/**
 * Path for the engine. What the cache has is taken as it is unless `options.refresh` asks the hub again.
 * @throws {DownloadError}
 */
export async function fetchHubModel(
  reference: HubReference,
  options: FetchOptions,
): Promise<string> {
  const { modelsDir, hubUrl, hubToken, progress } = options;
  const cached = cachedHubModel(modelsDir, reference);
  const before = cached && recordedCommit(modelsDir, reference);
  if (cached !== undefined && options.refresh !== true) return cached;
  const client = new HubClient({ url: hubUrl, token: hubToken });
  let revision: HubRevision;
  try {
    revision = await readRevision(client, reference);
  } catch (error) {
    const isUnreachable = error instanceof DownloadError && error.code === "ERR_DOWNLOAD_NETWORK";
    if (cached === undefined || !isUnreachable) throw error;
    progress.note(`${error.message}; what was downloaded before is used`);
    return cached;
  }
  const { repo } = reference;
  const folder = commitFolder(modelsDir, repo, revision.commit);
  try {
    await mkdir(folder, { recursive: true });
    const target = new HubFolder(folder, client, { repo, commit: revision.commit });
    await fetchFiles(reference, revision, target, options);
    recordCommit(modelsDir, reference, revision.commit);
  } catch (error) {
    throw explainDiskError(error, folder);
  }
  if (before !== undefined && before !== revision.commit) {
    const old = nameAtCommit(reference, before);
    progress.note(`${reference.text} has moved; "models remove ${old}" removes what it was before`);
  }
  return modelPath(folder, reference);
}

async function readRevision(
  client: HubClient,
  { repo, revision }: HubReference,
): Promise<HubRevision> {
  try {
    return await client.readRevision(repo, revision, AbortSignal.timeout(STALL_TIMEOUT_MS));
  } catch (error) {
    if (error instanceof DownloadError) throw error;
    const why = `${client.host}: ${describeError(error)}`;
    throw new DownloadError("ERR_DOWNLOAD_NETWORK", why, { cause: error });
  }
}

async function fetchFiles(
  reference: HubReference,
  { files }: HubRevision,
  target: HubFolder,
  options: FetchOptions,
): Promise<void> {
  if (reference.file !== undefined) {
    await target.fetchAll(chooseGguf(reference, reference.file, files), options);
    return;
  }
  const chosen = await chooseSafetensors(reference, files, async (index) => {
    await target.fetchAll([index], options);
    return target.readText(index);
  });
  await target.fetchAll(chosen, options);
}
