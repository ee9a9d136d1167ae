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
import { CliProcess, runCli, startServer as startCli } from "../cli-process.ts";
import { type FileCase, unpackModel, writeMutatedModels } from "./mutated-model.ts";

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
  if (script !== undefined) return { skip: "the server has no hook that sets the model's text" };
  if (script_no_eos) return { skip: "the server has no hook that keeps the model from ending" };
  try {
    const server = await startCli(flags, { env });
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

// ---- Kind `engine`: parts of the engine, without a server

interface EngineInput {
  readonly model: string;
  readonly script_ids?: readonly ("text" | "unused id" | "control id")[];
}

/** Texts of the fixture's vocabulary that stand for the kinds of tokens a case names. */
const TOKEN_KINDS = {
  text: "a",
  "unused id": "<unused0>",
  "control id": "<start_of_turn>",
} as const;

function engineHook(
  input: EngineInput,
  { id, shared }: { readonly id: string; readonly shared: string },
) {
  const { model: base, script_ids: kinds } = input;
  if (kinds === undefined)
    return { skip: `${id} is a test of its own; see test/engine and test/unit` };
  const model = unpackModel(`${base}/Q8_0`, shared);
  const { tokenizer, createOutputDecoder } = loadTextModel(model, loadAddon().inspectModel(model));
  const oneToken = { parseSpecial: true, addBos: false };
  const ids = kinds.flatMap((kind) => [...tokenizer.encodePlain(TOKEN_KINDS[kind], oneToken)]);
  const decoder = createOutputDecoder({ stop: [] });
  const events = ids.flatMap((token) => decoder.push(Int32Array.of(token)));
  const text = [...events, ...decoder.finish()]
    .map((event) => (event.type === "text" ? event.delta : ""))
    .join("");
  return { text, output_tokens: decoder.numTokens };
}

// ---- Kind `cli`: the command itself, with options that cannot be

interface CliInput {
  readonly variants?: readonly { readonly cmd: readonly [string, ...string[]] }[];
}

async function cliHook({ variants }: CliInput, { id }: { readonly id: string }) {
  if (id !== "OP-14" || variants === undefined) {
    return { skip: "needs a mock origin, a cgroup or signals; see the tests beside this one" };
  }
  const results: Record<string, object> = {};
  for (const [k, { cmd }] of variants.entries()) {
    const started = performance.now();
    const { exitCode, stderr } = await runCli([], { command: cmd });
    results[`v${k}`] = { exit: exitCode, stderr, ms: performance.now() - started };
  }
  return results;
}

export const hooks = { file: fileHook, cli: cliHook, engine: engineHook };
