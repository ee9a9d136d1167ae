/** `warmloop doctor`: what this machine offers and lacks, one line each. Never fails. */
import { spawnSync } from "node:child_process";
import { formatBytes } from "../base/format.ts";
import type { Config } from "../config/load-config.ts";
import { loadManifest } from "../models/manifest.ts";
import { isCached } from "../models/model-cache.ts";
import { loadAddon } from "../native/load-addon.ts";

export function runDoctor({ machine, model: { modelsDir } }: Config): void {
  const models = loadManifest().models;
  const cached = models.filter((model) => isCached(modelsDir, model)).map(({ id }) => id);
  const facts: readonly [string, string][] = [
    ["node", process.versions.node],
    ["compiler", firstLine("c++") ?? "missing (Debian package g++)"],
    ["cmake", firstLine("cmake") ?? "missing (Debian package cmake)"],
    ["cpus", `${machine.cpus} for this process`],
    ["memory", `${formatBytes(machine.memoryBytes)} for this process`],
    ["addon", describeAddon()],
    ["models", `${cached.length > 0 ? cached.join(", ") : "none"} in ${modelsDir}`],
  ];
  for (const [name, value] of facts) process.stdout.write(`${`${name}:`.padEnd(10)}${value}\n`);
}

function firstLine(command: string): string | undefined {
  const { status, stdout } = spawnSync(command, ["--version"], { encoding: "utf8" });
  return status === 0 ? stdout.split("\n")[0] : undefined;
}

function describeAddon(): string {
  try {
    const devices = loadAddon().probeDevices();
    return devices
      .map(({ name, isaLevels }) => `${name.trim()}, kernels for ${isaLevels.join(", ")}`)
      .join("; ");
  } catch (error) {
    return `not usable: ${(error as Error).message}`;
  }
}
