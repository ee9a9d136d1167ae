// Checks (or with --write applies) clang-format on every C++ file git knows or would add.
import { spawnSync } from "node:child_process";

const files = spawnSync(
  "git",
  ["ls-files", "-co", "--exclude-standard", "*.cpp", "*.h", "*.cu", "*.cuh"],
  {
    encoding: "utf8",
  },
)
  .stdout.split("\n")
  .filter(Boolean);
if (files.length === 0) process.exit(0);
const mode = process.argv.includes("--write") ? ["-i"] : ["--dry-run", "--Werror"];
const result = spawnSync("npx", ["clang-format", ...mode, ...files], { stdio: "inherit" });
process.exit(result.status ?? 1);
