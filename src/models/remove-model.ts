/**
 * Takes downloaded models out of the cache again, with what was left of interrupted downloads. Touches
 * nothing outside of the cache's folder, whatever links lie in it.
 */
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import path from "node:path";
import { ExitError } from "../base/exit-error.ts";
import { commitFolder, recordedCommit, refsFolder } from "./hub-cache.ts";
import { ggufShards, type HubReference } from "./hub-reference.ts";
import type { DownloadableModel } from "./resolve-model.ts";

/**
 * Returns the bytes that were freed; undefined when nothing of the model is there. Of a hub's repository
 * the GGUF files, which are models of their own, stay, as do other revisions.
 * @throws {ExitError} modelFile, when a link leads out of the cache
 */
export function removeModel(modelsDir: string, model: DownloadableModel): number | undefined {
  const folder = folderOf(modelsDir, model);
  if (folder === undefined || !existsSync(folder)) return undefined;
  assertInside(modelsDir, folder);
  const files = filesIn(folder).filter((file) => belongs(file, model));
  const bytes = files.reduce((sum, file) => sum + lstatSync(path.join(folder, file)).size, 0);
  for (const file of files) rmSync(path.join(folder, file));
  removeEmptyFolders(folder);
  if (model.kind === "hub") forgetRevisions(modelsDir, model.reference);
  return files.length === 0 ? undefined : bytes;
}

function folderOf(modelsDir: string, model: DownloadableModel): string | undefined {
  if (model.kind === "manifest") return path.join(modelsDir, model.id);
  const commit = recordedCommit(modelsDir, model.reference);
  return commit && commitFolder(modelsDir, model.reference.repo, commit);
}

function assertInside(modelsDir: string, folder: string): void {
  const real = realpathSync(folder);
  if (real.startsWith(`${realpathSync(modelsDir)}${path.sep}`)) return;
  throw new ExitError(
    "modelFile",
    `${folder} leads to ${real}, outside of the folder of downloaded models: remove it yourself`,
  );
}

/** Relative paths of all files below; links are not followed. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

function belongs(file: string, model: DownloadableModel): boolean {
  if (model.kind === "manifest") return true;
  const { file: wanted } = model.reference;
  if (wanted === undefined) return !/\.gguf(\.|$)/.test(file);
  return ggufShards(wanted).some((shard) => {
    return file === shard || (file.startsWith(`${shard}.`) && file.endsWith(".part"));
  });
}

function removeEmptyFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmptyFolders(path.join(folder, entry.name));
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

/** Branches and tags whose commit is not there any more. */
function forgetRevisions(modelsDir: string, { repo }: HubReference): void {
  const refs = refsFolder(modelsDir, repo);
  for (const name of existsSync(refs) ? readdirSync(refs) : []) {
    const file = path.join(refs, name);
    if (!existsSync(commitFolder(modelsDir, repo, readFileSync(file, "utf8")))) rmSync(file);
  }
}
