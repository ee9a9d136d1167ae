/**
 * A download under its unfinished name, and what makes it a file of the cache. A file has its final name
 * only after its checksum was verified, so whoever sees it may use it.
 *
 * A download writes `<file>.<host>.<pid>.part`. Nobody else writes there, so concurrent starts can't
 * damage each other's bytes; the worst that two do is download twice. A part whose process is gone is
 * taken over by renaming it, which at most one process achieves.
 */
import { readdirSync, renameSync, statSync } from "node:fs";
import { open, rename, rm, statfs } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { formatMib } from "../base/format.ts";
import { DownloadError } from "./download-error.ts";
import { digestFile, type FileDigest } from "./file-digest.ts";

/** Age after which a part of another host (or container) counts as abandoned. */
const ABANDONED_MS = 10 * 60_000;

/** This process's own name for an unfinished `file`; takes over an abandoned one if there is. */
export function claimPart(file: string, nowMs = Date.now()): string {
  const folder = path.dirname(file);
  const own = `${file}.${hostname()}.${process.pid}.part`;
  for (const name of readdirSync(folder)) {
    const part = path.join(folder, name);
    if (part === own) return own; // the same process id in a restarted container
    const owner = ownerOfPart(name, path.basename(file));
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

/** 0 for one that is not there yet. */
export const sizeOf = (file: string): number =>
  statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** @throws {DownloadError} ERR_DOWNLOAD_DISK */
export async function checkSpace(folder: string, what: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= neededBytes) return;
  throw new DownloadError(
    "ERR_DOWNLOAD_DISK",
    `no space for ${what}: ${folder} has ${formatMib(bavail * bsize)} free, ` +
      `${formatMib(neededBytes)} are needed; free some, or name another folder with --models-dir`,
  );
}

/**
 * Verifies a whole part and gives it its final name.
 * @throws {DownloadError} ERR_DOWNLOAD_CHECKSUM; the part is gone then
 */
export async function finishPart(part: string, file: string, digest: FileDigest): Promise<void> {
  const hex = await digestFile(part, digest.kind);
  if (hex !== digest.hex) {
    await rm(part);
    throw new DownloadError(
      "ERR_DOWNLOAD_CHECKSUM",
      `${path.basename(file)} is damaged: its ${digest.kind} should be ${digest.hex}, it is ${hex}; ` +
        "the file was removed, start again to download it anew",
    );
  }
  await syncToDisk(part);
  await rename(part, file);
}

/** Errors of the folder itself, in words; all others as they are. */
export function explainDiskError(error: unknown, folder: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "ENOSPC" && code !== "EACCES" && code !== "EROFS" && code !== "ENOTDIR") {
    return error;
  }
  const what = code === "ENOSPC" ? "the disk is full" : "it cannot be written";
  return new DownloadError(
    "ERR_DOWNLOAD_DISK",
    `${folder}: ${what}; name another folder with --models-dir`,
    { cause: error },
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

interface PartOwner {
  readonly host: string;
  readonly pid: number;
}

function ownerOfPart(name: string, fileName: string): PartOwner | undefined {
  if (!name.startsWith(`${fileName}.`)) return undefined;
  const match = /^(.+)\.(\d+)\.part$/.exec(name.slice(fileName.length + 1));
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
