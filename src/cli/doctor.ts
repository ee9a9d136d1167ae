/**
 * `warmloop doctor`: what this machine offers and lacks, one line each, and how the Codex CLI is set up
 * for a server that is started with the same options. Never fails.
 */
import { spawnSync } from "node:child_process";
import { formatBytes } from "../base/format.ts";
import type { Config } from "../config/load-config.ts";
import { loadManifest, type Manifest } from "../models/manifest.ts";
import { isCached } from "../models/model-cache.ts";
import { pathOnDisk, resolveModel } from "../models/resolve-model.ts";
import { loadAddon } from "../native/load-addon.ts";
import { type CodexFacts, codexSteps } from "./codex-settings.ts";

export function runDoctor(config: Config): void {
  const {
    machine,
    model: { modelsDir },
  } = config;
  const manifest = loadManifest();
  const { models } = manifest;
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
  process.stdout.write(`\nCodex CLI:\n${describeCodex(config, manifest)}\n`);
}

const INDENT = "  ";

function describeCodex(config: Config, manifest: Manifest): string {
  try {
    const needsKey = config.server.apiKeysFile !== undefined;
    return codexSteps(codexFacts(config, manifest), needsKey, INDENT);
  } catch (error) {
    return `${INDENT}no settings: ${(error as Error).message}`;
  }
}

/** What a server with these options has. A model that is not here yet counts as one of small context. */
function codexFacts({ server, model, engine }: Config, manifest: Manifest): CodexFacts {
  const resolved = resolveModel(model.model, manifest);
  const file = pathOnDisk(resolved, model.modelsDir);
  const modelTokens = file === undefined ? 0 : loadAddon().inspectModel(file).context;
  return {
    url: `http://${server.host}:${server.port}`,
    modelId: model.alias ?? resolved.id,
    contextTokens: Math.min(engine.maxContextTokens ?? modelTokens, modelTokens),
  };
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
