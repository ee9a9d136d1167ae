/**
 * Where models of a hub lie in the cache: `hf/OWNER/REPO/COMMIT/FILE`, each file under the commit it is
 * of, and in `refs/REVISION` the commit that a branch or tag named when it was last asked for. So a
 * second start needs no network, and a branch that moved is a new folder.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ggufShards, type HubReference, isCommit } from "./hub-reference.ts";

/** Fetched after all others: a folder that has it has them all. */
export const LAST_FILE = "config.json";

export function commitFolder(modelsDir: string, repo: string, commit: string): string {
  return path.join(modelsDir, "hf", repo, commit);
}

/** What the engine opens: the folder of safetensors, or the first file of a GGUF. */
export function modelPath(folder: string, { file }: HubReference): string {
  return file === undefined ? folder : path.join(folder, ggufShards(file)[0] ?? file);
}

/** Path of a model that is there, whole and verified; undefined when something is missing. */
export function cachedHubModel(modelsDir: string, reference: HubReference): string | undefined {
  const commit = recordedCommit(modelsDir, reference);
  if (commit === undefined) return undefined;
  const folder = commitFolder(modelsDir, reference.repo, commit);
  const needed = reference.file === undefined ? [LAST_FILE] : ggufShards(reference.file);
  const isWhole = needed.every((file) => existsSync(path.join(folder, file)));
  return isWhole ? modelPath(folder, reference) : undefined;
}

export function recordCommit(modelsDir: string, reference: HubReference, commit: string): void {
  if (isCommit(reference.revision)) return;
  const file = refFile(modelsDir, reference);
  mkdirSync(path.dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, commit);
  renameSync(unfinished, file);
}

function recordedCommit(modelsDir: string, reference: HubReference): string | undefined {
  if (isCommit(reference.revision)) return reference.revision;
  const file = refFile(modelsDir, reference);
  const commit = existsSync(file) ? readFileSync(file, "utf8") : "";
  return isCommit(commit) ? commit : undefined;
}

function refFile(modelsDir: string, { repo, revision }: HubReference): string {
  return path.join(modelsDir, "hf", repo, "refs", encodeURIComponent(revision));
}
