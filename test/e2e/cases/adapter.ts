/**
 * What the runner of the shared cases needs to start this server and to reach its parts: `start` and the
 * `hooks` of the runner's README. A case that asks for what is not there is skipped with the reason.
 */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { loadAddon } from "../../../src/native/load-addon.ts";
import { loadTextModel } from "../../../src/text/load-text-model.ts";
import { writeEndlessModel } from "../../endless-model.ts";
import { testDataFolder } from "../../fixture-models.ts";
import { CliProcess, startServer as startCli } from "../cli-process.ts";
import { cliHook } from "./cli-hook.ts";
import { clientHook } from "./client-hook.ts";
import { engineHook } from "./engine-hook.ts";
import { type FileCase, writeMutatedModels } from "./mutated-model.ts";

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

const PEAK_MEMORY_REPORTER = pathToFileURL(
  path.join(import.meta.dirname, "report-peak-memory.mjs"),
);
const KIB_PER_MIB = 1024;

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
    const { message } = error as Error;
    if (message.includes("unknown option")) return { skip: message };
    throw error;
  }
}

function scriptEnv(script: string): Readonly<Record<string, string>> {
  const hook = pathToFileURL(path.join(import.meta.dirname, "scripted-answers.mjs"));
  return { NODE_OPTIONS: `--import=${hook.href}`, WARMLOOP_TEST_SCRIPT: script };
}

// ---- Kind `file`: a damaged model

type FileInput = FileCase & { readonly do: "load" | { readonly detokenize: readonly string[] } };

async function fileHook(input: FileInput, { shared }: { readonly shared: string }) {
  const models = writeMutatedModels(input, shared);
  const wish = input.do;
  if (wish !== "load") return models.map((model) => detokenize(model, wish.detokenize));
  const worlds = [];
  for (const model of models) worlds.push({ load: await load(model) }); // one by one: they are timed
  return worlds;
}

/** Tries to serve the model. */
async function load(model: string) {
  const peakFile = path.join(mkdtempSync(path.join(tmpdir(), "warmloop-peak-")), "kib");
  const env = {
    NODE_OPTIONS: `--import=${PEAK_MEMORY_REPORTER.href}`,
    WARMLOOP_TEST_PEAK_FILE: peakFile,
  };
  const started = performance.now();
  await using server = new CliProcess(["serve", "--port", "0", "--model", model], { env });
  const ok = await server.waitFor(/^warmloop ready/m).then(
    () => true,
    () => false,
  );
  if (ok) return { ok };
  const { exitCode, stderr } = await server.result();
  return {
    ok,
    exit: exitCode,
    signal: server.child.signalCode,
    ms: performance.now() - started,
    rss_mib: Number(readFileSync(peakFile, "utf8")) / KIB_PER_MIB,
    error: stderr,
    stderr,
  };
}

/** Text of the pieces that are named as `id of PIECE`. */
function detokenize(model: string, names: readonly string[]) {
  const inspection = loadAddon().inspectModel(model);
  const pieces = inspection.metadata["tokenizer.ggml.tokens"];
  if (!Array.isArray(pieces)) throw new Error(`${model} has no tokens`);
  const ids = names.map((name) => pieces.indexOf(name.replace(/^id of /, "")));
  try {
    const decoder = loadTextModel(model, inspection).createOutputDecoder({ stop: [] });
    const events = [...decoder.push(Int32Array.from(ids)), ...decoder.finish()];
    const text = events.map((event) => (event.type === "text" ? event.delta : "")).join("");
    return { load: { ok: true }, text };
  } catch (error) {
    return { load: { ok: false, error: (error as Error).message } };
  }
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
  const file = path.join(testDataFolder ?? "", "fixtures/tolerances.json");
  const { modes } = JSON.parse(readFileSync(file, "utf8")) as {
    modes: Readonly<Record<string, { readonly max_abs: number }>>;
  };
  return modes[mode]?.max_abs ?? Number.NaN;
}

export const operators = { "<=x": isAtMost };
export const hooks = { file: fileHook, cli: cliHook, client: clientHook, engine: engineHook };
