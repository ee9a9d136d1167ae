// Preloaded into a server that is expected to end: writes its peak resident memory, in KiB, to a file.
import { writeFileSync } from "node:fs";

process.on("exit", () => {
  writeFileSync(process.env.WARMLOOP_TEST_PEAK_FILE, String(process.resourceUsage().maxRSS));
});
