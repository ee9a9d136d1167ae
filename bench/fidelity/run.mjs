/**
 * `npm run bench:fidelity [-- --only TEXT --tokens 1024 --threads N]`: what quantizing activations
 * changes. The reference is the engine itself with `activations: "float"`: every weight is dequantized
 * to float32 and multiplied by float32 inputs, and the KV cache is float32. See bench/README.md.
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { openNativeEngine } from "../../dist/engine/native-engine.js";
import { loadAddon } from "../../dist/native/load-addon.js";
import { REAL_MODELS } from "../engine/models.mjs";
import { describeRun, GrowingResults, judged, printTable, quantile, summary } from "../results.mjs";
import { compareRows } from "./divergence.mjs";

const TEXT = path.join(import.meta.dirname, "text.txt");
/** Positions whose logits are in memory at a time. */
const CHUNK_TOKENS = 64;
const TARGETS = { "mean-kl": 0.00005, "top-1": 99.5 };
const REFERENCE = { name: "float32 on the dequantized file", version: "activations float, KV f32" };
/** What is compared with the reference: suffix of the rows' ids -> options of the engine. */
const SETTINGS = { "": { activations: "wide" }, "/int8": { activations: "8" } };

const { values: flags } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    tokens: { type: "string", default: "1024" },
    threads: { type: "string", default: String(availableParallelism()) },
  },
});

/** The first tokens of the text, behind BOS where the model wants one. */
function textTokens(modelPath, count) {
  const tokenizer = loadAddon().openTokenizer(modelPath);
  const { addsBos, bosId } = tokenizer.facts;
  const start = addsBos ? [bosId] : [];
  const all = [...start, ...tokenizer.encode(readFileSync(TEXT, "utf8"), "text", true)];
  if (all.length < count) throw new Error(`the text has only ${all.length} tokens`);
  return Int32Array.from(all.slice(0, count));
}

/** An engine that gives the logits of one piece of a sequence after the other. */
async function openReader(modelPath, options) {
  const threads = Number(flags.threads);
  const memory = { kvMemoryBytes: 2 ** 29, maxContextTokens: 2048 };
  const engine = await openNativeEngine({ modelPath, threads, ...memory, ...options });
  const request = { logits: "all", prefillOnly: true, keepSequence: true, maxOutputTokens: 0 };
  let sequence;
  return {
    info: engine.info,
    async read(tokens) {
      const piece = { ...request, tokens };
      const { logits, sequenceId } = await (sequence === undefined
        ? engine.runTokens(piece)
        : engine.continueTokens(sequence, piece));
      sequence = sequenceId;
      return logits;
    },
    close: () => engine.close(),
  };
}

/** suffix -> {kl, isSameTop} of every position. */
async function compareModel(modelPath) {
  const tokens = textTokens(modelPath, Number(flags.tokens));
  const reference = await openReader(modelPath, { activations: "float", kvType: "f32" });
  const readers = [];
  for (const [suffix, options] of Object.entries(SETTINGS)) {
    readers.push([suffix, await openReader(modelPath, { ...options, kvType: "f16" }), []]);
  }
  const { isa, vocab } = reference.info;
  for (let at = 0; at < tokens.length; at += CHUNK_TOKENS) {
    const piece = tokens.slice(at, at + CHUNK_TOKENS);
    const expected = await reference.read(piece);
    for (const [, reader, positions] of readers) {
      positions.push(...compareRows(expected, await reader.read(piece), vocab));
    }
  }
  for (const reader of [reference, ...readers.map(([, reader]) => reader)]) await reader.close();
  return { isa, compared: readers.map(([suffix, , positions]) => [suffix, positions]) };
}

/** Values over all positions, so that median, min and max are one number. */
function toRows(model, suffix, positions) {
  const kls = positions.map(({ kl }) => kl);
  const mean = kls.reduce((sum, kl) => sum + kl, 0) / kls.length;
  const sameTop = positions.filter(({ isSameTop }) => isSameTop).length / positions.length;
  const row = (name, unit, value) => {
    const id = `${name}/${model}${suffix}`;
    const measured = { id, unit, ours: { ...summary([value]), n: kls.length }, disturbed: false };
    return judged(measured, suffix === "" ? TARGETS[name] : undefined);
  };
  return [
    row("mean-kl", "nats", mean),
    row("p99-kl", "nats", quantile(kls, 0.99)),
    row("top-1", "%", 100 * sameTop),
  ];
}

function print(rows) {
  const lines = rows.map(({ id, unit, ours, target, met }) => [
    id,
    unit === "nats" ? ours.median.toFixed(7) : ours.median,
    unit,
    target === undefined ? "" : `${unit === "%" ? ">=" : "<="} ${target} ${met ? "met" : "missed"}`,
  ]);
  printTable([`against ${REFERENCE.name}`, "value", "", "target"], lines);
}

const run = describeRun("fidelity");
const measured = [];
let file;
for (const { name, locate } of REAL_MODELS.filter(({ name }) => name.includes(flags.only))) {
  const modelPath = locate();
  if (modelPath === undefined) continue;
  const { isa, compared } = await compareModel(modelPath);
  const results = new GrowingResults(run, { isa, peer: REFERENCE });
  for (const row of compared.flatMap(([suffix, positions]) => toRows(name, suffix, positions))) {
    measured.push(row);
    file = results.put(row);
  }
}
print(measured);
if (file !== undefined) console.log(`\nwrote ${file}`);
