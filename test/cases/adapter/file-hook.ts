/** Kind `file` of the cases: a damaged model, which is loaded or gives the text of some tokens. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { loadAddon } from "../../../src/native/load-addon.ts";
import { loadTextModel } from "../../../src/text/load-text-model.ts";
import { CliProcess } from "../../e2e/cli-process.ts";
import { type FileCase, writeMutatedModels } from "./mutated-model.ts";

type FileInput = FileCase & { readonly do: "load" | { readonly detokenize: readonly string[] } };

const PEAK_MEMORY_REPORTER = pathToFileURL(
  path.join(import.meta.dirname, "report-peak-memory.mjs"),
);
const KIB_PER_MIB = 1024;

export async function fileHook(input: FileInput) {
  const models = writeMutatedModels(input);
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
