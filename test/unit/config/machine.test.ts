import { describe, expect, test } from "vitest";
import { readCgroupLimits } from "../../../src/config/machine.ts";

const MIB = 2 ** 20;

function limitsOf(files: Readonly<Record<string, string>>) {
  return readCgroupLimits((file) => files[file]);
}

describe("control group limits", () => {
  test("version 2: the tightest group on the way to the root counts", () => {
    const limits = limitsOf({
      "/proc/self/cgroup": "0::/a/b\n",
      "/sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
      "/sys/fs/cgroup/a/cpu.max": "150000 100000\n",
      "/sys/fs/cgroup/a/b/memory.max": "max\n",
      "/sys/fs/cgroup/a/memory.max": `${96 * MIB}\n`,
    });
    expect(limits).toEqual({ cpus: 1.5, memoryBytes: 96 * MIB });
  });

  test("version 2 inside a container: only the root of the mount is there", () => {
    const limits = limitsOf({
      "/proc/self/cgroup": "0::/docker/0123\n",
      "/sys/fs/cgroup/memory.max": `${512 * MIB}\n`,
      "/sys/fs/cgroup/cpu.max": "50000 100000\n",
    });
    expect(limits).toEqual({ cpus: 0.5, memoryBytes: 512 * MIB });
  });

  test("version 1", () => {
    const limits = limitsOf({
      "/proc/self/cgroup": "4:memory:/x\n2:cpu,cpuacct:/y\n",
      "/sys/fs/cgroup/memory/x/memory.limit_in_bytes": `${64 * MIB}\n`,
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
      "/sys/fs/cgroup/cpu/y/cpu.cfs_quota_us": "200000\n",
      "/sys/fs/cgroup/cpu/y/cpu.cfs_period_us": "100000\n",
      "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
      "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    });
    expect(limits).toEqual({ cpus: 2, memoryBytes: 64 * MIB });
  });

  test("no groups, no limits", () => {
    const limits = limitsOf({});
    expect(limits).toEqual({
      cpus: Number.POSITIVE_INFINITY,
      memoryBytes: Number.POSITIVE_INFINITY,
    });
  });
});
