/**
 * The typed configuration: flag over environment over --config file over default. An unknown key of
 * any source, a value out of range and options that contradict each other are errors that name them.
 * Only this folder reads the environment and the command line; all others are handed their section.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { usageError } from "../base/exit-error.ts";
import { isLoopbackHost } from "../base/loopback.ts";
import { ENGINE_OPTIONS, type EngineConfig } from "./engine-config.ts";
import { LOG_OPTIONS, type LogConfig } from "./log-config.ts";
import { type Machine, readMachine } from "./machine.ts";
import { MODEL_OPTIONS, type ModelConfig } from "./model-config.ts";
import { type ConfigOf, InvalidValue, type Option, type Section } from "./option.ts";
import { SERVER_OPTIONS, type ServerConfig } from "./server-config.ts";
import { STORE_OPTIONS, type StoreConfig } from "./store-config.ts";

export interface Config {
  readonly server: ServerConfig;
  readonly engine: EngineConfig;
  readonly model: ModelConfig;
  readonly store: StoreConfig;
  readonly log: LogConfig;
  readonly machine: Machine;
}

export interface ConfigSources {
  /** Values by flag name without dashes; those absent were not given. `config` names the file. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly machine?: Machine;
  readonly readFile?: (file: string) => string;
}

/** All options by section; the command line's flags and its help are made from them. */
export const OPTION_SECTIONS = {
  server: SERVER_OPTIONS,
  engine: ENGINE_OPTIONS,
  model: MODEL_OPTIONS,
  store: STORE_OPTIONS,
  log: LOG_OPTIONS,
} as const;
const OPTIONS: readonly Option<unknown>[] = Object.values(OPTION_SECTIONS).flatMap((section) =>
  Object.values<Option<unknown>>(section),
);
const HUB_URL = "https://huggingface.co";
const ENV_PREFIX = "WARMLOOP_";
/** Variables of the tests and of the build, not of the server. */
const OTHER_ENV = /^WARMLOOP_TEST_/;

/** A value with the name under which the user gave it. */
interface Given {
  readonly name: string;
  readonly value: string;
}

/** @throws {ExitError} usage */
export function loadConfig(sources: ConfigSources): Config {
  const machine = sources.machine ?? readMachine();
  const given = collect(sources);
  const model = sectionOf(OPTION_SECTIONS.model, given, machine);
  const store = sectionOf(OPTION_SECTIONS.store, given, machine);
  const config: Config = Object.freeze({
    server: sectionOf(OPTION_SECTIONS.server, given, machine),
    engine: sectionOf(OPTION_SECTIONS.engine, given, machine),
    model: Object.freeze({
      ...model,
      modelsDir: path.resolve(model.modelsDir ?? defaultModelsDir(sources.env)),
      hubUrl: readHubUrl(sources.env.HF_ENDPOINT || HUB_URL),
      hubToken: readHubToken(sources.env.HF_TOKEN),
    }),
    store: Object.freeze({
      ...store,
      folder: storeFolder(store.folder ?? defaultStoreFolder(sources.env)),
      isDefaultFolder: store.folder === undefined,
    }),
    log: sectionOf(OPTION_SECTIONS.log, given, machine),
    machine,
  });
  checkTogether(config);
  return config;
}

export const envName = (flag: string): string =>
  ENV_PREFIX + flag.toUpperCase().replaceAll("-", "_");

/** All given values by flag; a stronger source replaces a weaker one. */
function collect({ flags, env, readFile }: ConfigSources): Map<string, Given> {
  const fromFlags = entriesOf(flags).map(([flag, value]) => ({ flag, name: `--${flag}`, value }));
  const fromEnv = entriesOf(env)
    .filter(([name, value]) => name.startsWith(ENV_PREFIX) && !OTHER_ENV.test(name) && value !== "")
    .map(([name, value]) => ({ flag: flagOfEnv(name), name, value }));
  const configFile = [...fromFlags, ...fromEnv].find(({ flag }) => flag === "config")?.value;
  const fromFile = configFile === undefined ? [] : readConfigFile(configFile, readFile);
  return new Map(
    [...fromFile, ...fromEnv, ...fromFlags].map(({ flag, name, value }) => [flag, { name, value }]),
  );
}

function entriesOf(values: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(values).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
}

function flagOfEnv(name: string): string {
  const known = [...OPTIONS.map(({ flag }) => flag), "config"];
  const flag = known.find((candidate) => envName(candidate) === name);
  if (flag === undefined) {
    throw usageError(`environment variable ${name} is not an option of warmloop: unset it`);
  }
  return flag;
}

function readConfigFile(
  file: string,
  readFile = (name: string) => readFileSync(name, "utf8"),
): { flag: string; name: string; value: string }[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFile(file));
  } catch (error) {
    throw usageError(`--config ${file} cannot be read as JSON: ${(error as Error).message}`);
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw usageError(`--config ${file} must hold one JSON object of options`);
  }
  return Object.entries(parsed).map(([flag, value]) => {
    const name = `key "${flag}" of ${file}`;
    if (!OPTIONS.some((candidate) => candidate.flag === flag)) {
      throw usageError(`${name} is not an option of warmloop`);
    }
    const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
    if (!isList && !["string", "number", "boolean"].includes(typeof value)) {
      throw usageError(`${name} must be a text, a number, a boolean or a list of texts`);
    }
    return { flag, name, value: String(value) }; // a list becomes the comma-separated form
  });
}

function sectionOf<S extends Section>(
  section: S,
  given: ReadonlyMap<string, Given>,
  machine: Machine,
): ConfigOf<S> {
  const values = Object.entries(section).map(([key, option]) => [
    key,
    resolveOption(option, given.get(option.flag), machine),
  ]);
  return Object.freeze(Object.fromEntries(values)) as ConfigOf<S>;
}

function resolveOption(
  option: Option<unknown>,
  given: Given | undefined,
  machine: Machine,
): unknown {
  if (given === undefined) {
    return typeof option.default === "function" ? option.default(machine) : option.default;
  }
  try {
    return option.parse(given.value);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    // The flag's name stands in the message whatever the source was.
    const source = given.name.startsWith("--") ? "" : ` (from ${given.name})`;
    throw usageError(`--${option.flag} ${given.value}${source}: ${error.message}`);
  }
}

/** Checks that need more than one option. */
function checkTogether({ server }: Config): void {
  if (server.apiKeysFile === undefined && !isLoopbackHost(server.host)) {
    throw usageError(
      `--host ${server.host} lets others reach the server: give --api-keys FILE as well, ` +
        "or listen on 127.0.0.1",
    );
  }
}

function readHubUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const hasMore = url?.username || url?.password || url?.search || url?.hash;
  if (url === undefined || !/^https?:$/.test(url.protocol) || hasMore) {
    throw usageError("HF_ENDPOINT must be an http or https address without user name and query");
  }
  return value.replace(/\/+$/, "");
}

/** Its value is in no message. */
function readHubToken(value: string | undefined): string | undefined {
  const token = value?.trim();
  if (token === undefined || token === "") return undefined;
  if (!/^[\x21-\x7e]+$/.test(token)) throw usageError("HF_TOKEN has characters no token has");
  return token;
}

function storeFolder(folder: string): string | undefined {
  return folder === "none" ? undefined : path.resolve(folder);
}

function defaultStoreFolder(env: ConfigSources["env"]): string {
  const state = env.XDG_STATE_HOME || path.join(homedir(), ".local", "state");
  return path.join(state, "warmloop");
}

function defaultModelsDir(env: ConfigSources["env"]): string {
  const cache = env.XDG_CACHE_HOME || path.join(homedir(), ".cache");
  return path.join(cache, "warmloop", "models");
}
