/**
 * What this process may use of the machine: CPU affinity and memory, cut by the limits of the
 * control groups it is in (version 1 and 2). A server that believes the host's numbers inside a
 * container crawls or is killed.
 */
import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import path from "node:path";

export interface Machine {
  /** CPUs' worth of time this process may use; a quota can make it a fraction. */
  readonly cpus: number;
  readonly memoryBytes: number;
}

/** Text of a file, or undefined when it cannot be read. */
export type ReadText = (file: string) => string | undefined;

export function readMachine(): Machine {
  const limits = readCgroupLimits(readTextFile);
  return {
    cpus: Math.min(availableParallelism(), limits.cpus),
    memoryBytes: Math.min(totalmem(), limits.memoryBytes),
  };
}

/** The tightest limits of all groups from the process's own up to the root. */
export function readCgroupLimits(read: ReadText): Machine {
  let cpus = Number.POSITIVE_INFINITY;
  let memoryBytes = Number.POSITIVE_INFINITY;
  for (const { controllers, group } of parseMembership(read("/proc/self/cgroup") ?? "")) {
    for (const folder of foldersUpToRoot(group)) {
      if (controllers.length === 0) {
        cpus = Math.min(cpus, cpusFromMax(read(path.join("/sys/fs/cgroup", folder, "cpu.max"))));
        memoryBytes = Math.min(
          memoryBytes,
          bytesFromLimit(read(path.join("/sys/fs/cgroup", folder, "memory.max"))),
        );
      }
      if (controllers.includes("cpu")) {
        const base = path.join("/sys/fs/cgroup/cpu", folder);
        const quota = read(path.join(base, "cpu.cfs_quota_us"));
        const period = read(path.join(base, "cpu.cfs_period_us"));
        cpus = Math.min(cpus, cpusFromMax(`${quota?.trim()} ${period?.trim()}`));
      }
      if (controllers.includes("memory")) {
        const file = path.join("/sys/fs/cgroup/memory", folder, "memory.limit_in_bytes");
        memoryBytes = Math.min(memoryBytes, bytesFromLimit(read(file)));
      }
    }
  }
  return { cpus, memoryBytes };
}

/** Lines `hierarchy:controllers:path`; version 2 has one line, with no controllers. */
function parseMembership(lines: string): { controllers: string[]; group: string }[] {
  return lines
    .split("\n")
    .filter((line) => line.includes(":"))
    .map((line) => {
      const [, controllers = "", ...group] = line.split(":");
      return { controllers: controllers.split(",").filter(Boolean), group: group.join(":") };
    });
}

/** `/a/b` -> `/a/b`, `/a`, `/`. In a container only the last of these may exist. */
function foldersUpToRoot(group: string): string[] {
  const folders = [group];
  for (let folder = group; folder !== "/" && folder !== "."; ) {
    folder = path.dirname(folder);
    folders.push(folder);
  }
  return folders;
}

/** `quota period` in microseconds; `max` and negative quotas mean no limit. */
function cpusFromMax(limit: string | undefined): number {
  const [quota, period] = (limit ?? "").trim().split(/\s+/).map(Number);
  const isLimit = quota !== undefined && period !== undefined && quota > 0 && period > 0;
  return isLimit ? quota / period : Number.POSITIVE_INFINITY;
}

function bytesFromLimit(limit: string | undefined): number {
  const bytes = Number(limit ?? "");
  return bytes > 0 ? bytes : Number.POSITIVE_INFINITY; // "max" and absent files are no limit
}

function readTextFile(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // a controller that is not mounted here sets no limit
  }
}
