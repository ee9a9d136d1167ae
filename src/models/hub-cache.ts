/**
 * Where models of a hub lie in the cache: `hf/OWNER/REPO/COMMIT/FILE`, each file under the commit it is
 * of, and in `refs/REVISION` the commit that a branch or tag named when it was last asked for. So a
 * second start needs no network, and a branch that moved is a new folder.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { ggufShards, type HubReference, isCommit, parseHubReference } from "./hub-reference.ts";

/** Fetched after all others: a folder that has it has them all. */
export const LAST_FILE = "config.json";

const COMMIT_FILE = /^([^/]+\/[^/]+)\/([0-9a-f]{40})\/(.+)$/;

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
  const unfinished = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}`);
  writeFileSync(unfinished, commit);
  renameSync(unfinished, file);
}

export interface CachedHubModel {
  /** With the branch or tag where one is known, else with the commit. */
  readonly name: string;
  /** For the engine. */
  readonly path: string;
}

/** The models that are there, whole. */
export function cachedHubModels(modelsDir: string): CachedHubModel[] {
  const root = path.join(modelsDir, "hf");
  const files = existsSync(root) ? readdirSync(root, { recursive: true, encoding: "utf8" }) : [];
  const revisions = new Map<string, string>(); // by `OWNER/REPO/COMMIT`
  for (const file of files) {
    const [, repo, revision] = /^([^/]+\/[^/]+)\/refs\/([^./][^/]*)$/.exec(file) ?? [];
    if (revision === undefined) continue;
    revisions.set(`${repo}/${readFileSync(path.join(root, file), "utf8")}`, revision);
  }
  const names = files.flatMap((file) => {
    const [, repo, commit, name = ""] = COMMIT_FILE.exec(file) ?? [];
    const repository = `hf:${repo}@${revisions.get(`${repo}/${commit}`) ?? commit}`;
    if (name === LAST_FILE) return [repository];
    return name.endsWith(".gguf") && name === ggufShards(name)[0] ? [`${repository}/${name}`] : [];
  });
  return names.sort().flatMap((name) => {
    const model = cachedHubModel(modelsDir, parseHubReference(name));
    return model === undefined ? [] : [{ name, path: model }];
  });
}

/** The commit that the revision named when it was last asked for. */
export function recordedCommit(modelsDir: string, reference: HubReference): string | undefined {
  if (isCommit(reference.revision)) return reference.revision;
  const file = refFile(modelsDir, reference);
  const commit = existsSync(file) ? readFileSync(file, "utf8") : "";
  return isCommit(commit) ? commit : undefined;
}

export function refsFolder(modelsDir: string, repo: string): string {
  return path.join(modelsDir, "hf", repo, "refs");
}

function refFile(modelsDir: string, { repo, revision }: HubReference): string {
  return path.join(refsFolder(modelsDir, repo), encodeURIComponent(revision));
}
