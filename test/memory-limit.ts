/** Commands under a memory limit that the kernel enforces, where a test may make control groups. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Version 1 and 2 of control groups. */
const HIERARCHIES = [
  { root: "/sys/fs/cgroup/memory", limitFile: "memory.limit_in_bytes" },
  { root: "/sys/fs/cgroup", limitFile: "memory.max" },
] as const;

export type Command = readonly [string, ...string[]];

export interface MemoryGroup extends Disposable {
  /** The command, to be started inside the group. */
  limit(command: Command): Command;
}

/** Undefined where the limit cannot be set. Dispose of it when all its processes have ended. */
export function makeMemoryGroup(limitBytes: number): MemoryGroup | undefined {
  for (const { root, limitFile } of HIERARCHIES) {
    const folder = path.join(root, `warmloop-test-${process.pid}`);
    try {
      mkdirSync(folder);
    } catch {
      continue; // not this version, or not allowed
    }
    if (!existsSync(path.join(folder, limitFile))) {
      rmdirSync(folder); // version 2 without the memory controller
      continue;
    }
    writeFileSync(path.join(folder, limitFile), String(limitBytes));
    const enter = `echo $$ > ${path.join(folder, "cgroup.procs")} && exec "$@"`;
    return {
      limit: (command) => ["sh", "-c", enter, "sh", ...command],
      [Symbol.dispose]: () => rmdirSync(folder),
    };
  }
  return undefined;
}
