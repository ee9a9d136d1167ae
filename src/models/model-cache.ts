/**
 * The folder of downloaded models, shared by all clones and processes: `<folder>/<id>/<file>`. A file
 * has its final name only after its checksum was verified, so whoever sees it may use it.
 *
 * A download writes `<file>.<host>.<pid>.part`. Nobody else writes there, so concurrent starts can't
 * damage each other's bytes; the worst that two do is download twice. A part whose process is gone is
 * taken over by renaming it, which at most one process achieves.
 */
import { readdirSync, renameSync, statSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import type { ManifestModel } from "./manifest.ts";

/** Age after which a part of another host (or container) counts as abandoned. */
const ABANDONED_MS = 10 * 60_000;

export function modelFolder(modelsDir: string, model: ManifestModel): string {
  return path.join(modelsDir, model.id);
}

export function cachedFile(modelsDir: string, model: ManifestModel): string {
  return path.join(modelFolder(modelsDir, model), model.file);
}

/** The file is there, whole. Its checksum was verified before it got this name. */
export function isCached(modelsDir: string, model: ManifestModel): boolean {
  const stat = statSync(cachedFile(modelsDir, model), { throwIfNoEntry: false });
  return stat?.size === model.bytes;
}

/** This process's own name for an unfinished download; takes over an abandoned one if there is. */
export function claimPart(modelsDir: string, model: ManifestModel, nowMs = Date.now()): string {
  const folder = modelFolder(modelsDir, model);
  const own = path.join(folder, `${model.file}.${hostname()}.${process.pid}.part`);
  for (const name of readdirSync(folder)) {
    const part = path.join(folder, name);
    if (part === own) return own; // the same process id in a restarted container
    const owner = ownerOfPart(name, model);
    if (owner === undefined || !isAbandoned(part, owner, nowMs)) continue;
    try {
      renameSync(part, own);
      return own;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // another took it
    }
  }
  return own;
}

interface PartOwner {
  readonly host: string;
  readonly pid: number;
}

function ownerOfPart(name: string, model: ManifestModel): PartOwner | undefined {
  if (!name.startsWith(`${model.file}.`)) return undefined;
  const match = /^(.+)\.(\d+)\.part$/.exec(name.slice(model.file.length + 1));
  return match === null ? undefined : { host: match[1] ?? "", pid: Number(match[2]) };
}

function isAbandoned(part: string, owner: PartOwner, nowMs: number): boolean {
  if (owner.host === hostname()) return !isRunning(owner.pid);
  const stat = statSync(part, { throwIfNoEntry: false });
  return stat !== undefined && nowMs - stat.mtimeMs > ABANDONED_MS;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0); // sends nothing, only asks
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // alive, another user's
  }
}
