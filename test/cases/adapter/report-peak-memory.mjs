// Preloaded into a server that is expected to end: writes its peak resident memory, in KiB, to a file.
import { readFileSync, writeFileSync } from "node:fs";

process.on("exit", () => {
  // Not resourceUsage().maxRSS: that of a child starts with what its parent has at the fork.
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  writeFileSync(process.env.WARMLOOP_TEST_PEAK_FILE, String(kib));
});
