// Builds the addon with cmake-js. WL_CMAKE_FOO=BAR in the environment becomes -DFOO=BAR.
import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import path from "node:path";

const native = import.meta.dirname;
const out = path.join(native, "build");
const cmakeJs = createRequire(import.meta.url).resolve("cmake-js/package.json");
const cli = path.join(path.dirname(cmakeJs), "bin", "cmake-js");
const definitions = Object.entries(process.env)
  .filter(([key]) => key.startsWith("WL_CMAKE_"))
  .map(([key, value]) => `--CD${key.slice("WL_CMAKE_".length)}=${value}`);

function run(command) {
  const args = [cli, command, "-d", native, "-O", out, "-p", String(availableParallelism())];
  const result = spawnSync(process.execPath, [...args, ...definitions], { stdio: "inherit" });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

if (definitions.length > 0) run("configure"); // `compile` alone keeps a configured tree's old values
run("compile");
const copyTo = process.argv.indexOf("--copy-to");
if (copyTo > 0) {
  cpSync(path.join(out, "Release"), path.resolve(process.argv[copyTo + 1]), { recursive: true });
}
