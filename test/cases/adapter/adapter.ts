/**
 * What the runner needs to start this server and to reach its parts: `start`, the hooks, and operators of
 * our own (../README.md). A case that asks for what is not there is skipped with the reason.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { startServer as startCli } from "../../e2e/cli-process.ts";
import { writeEndlessModel } from "../../endless-model.ts";
import { cliHook } from "./cli-hook.ts";
import { clientHook } from "./client-hook.ts";
import { engineHook } from "./engine-hook.ts";
import { fileHook } from "./file-hook.ts";

interface ServerWish {
  readonly flags: readonly string[];
  /** What the model is to say. */
  readonly script?: string;
  /** The model is never to end by itself. */
  readonly script_no_eos?: boolean;
  readonly env: Readonly<Record<string, string>>;
}

interface Skip {
  readonly skip: string;
}

interface Server {
  readonly url: string;
  readonly model: string;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

export async function start({
  flags,
  script,
  script_no_eos,
  env,
}: ServerWish): Promise<Server | Skip> {
  const scripted = script === undefined ? {} : scriptEnv(script);
  const model = script_no_eos ? ["--model", writeEndlessModel()] : [];
  try {
    const server = await startCli([...model, ...flags], { env: { ...env, ...scripted } });
    return {
      url: server.url,
      model: server.modelId,
      pid: server.process.child.pid,
      stop: async () => await server[Symbol.asyncDispose](),
    };
  } catch (error) {
    const [unknown] = /unknown option \S+/.exec((error as Error).message) ?? [];
    if (unknown === undefined) throw error;
    return { skip: unknown };
  }
}

function scriptEnv(script: string): Readonly<Record<string, string>> {
  const hook = pathToFileURL(path.join(import.meta.dirname, "scripted-answers.mjs"));
  return { NODE_OPTIONS: `--import=${hook.href}`, WARMLOOP_TEST_SCRIPT: script };
}

// ---- Operators

/**
 * The runner's `<=x`, "PATH|FACTOR", which knows no "tolerances:MODE": the fixtures' bound of a logit's
 * error.
 */
function isAtMost(got: unknown, want: string, scope: object): boolean {
  const [where = "", factor] = want.split("|");
  const [, mode] = /^tolerances:(.+)$/.exec(where) ?? [];
  const bound =
    mode === undefined ? Number(valueAt(scope, where)) * Number(factor) : maxLogitError(mode);
  return typeof got === "number" && got <= bound;
}

function valueAt(scope: object, where: string): unknown {
  return where
    .split(".")
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], scope);
}

function maxLogitError(mode: string): number {
  const file = path.join(import.meta.dirname, "../../golden/tolerances.json");
  const { modes } = JSON.parse(readFileSync(file, "utf8")) as {
    modes: Readonly<Record<string, { readonly max_abs: number }>>;
  };
  return modes[mode]?.max_abs ?? Number.NaN;
}

export const operators = { "<=x": isAtMost };
export const hooks = { file: fileHook, cli: cliHook, client: clientHook, engine: engineHook };
