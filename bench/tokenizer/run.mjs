/**
 * `npm run bench:tokenizer -- NAME=PATH[,FOLDER] ...`: our tokenizer beside @huggingface/tokenizers
 * on ten megabytes of mixed text, after checking it id for id against `tokenizers`, the library in
 * Rust that both are modelled on. PATH is a folder with tokenizer.json, or a GGUF file; FOLDER has
 * the tokenizer.json for the libraries, when PATH is a GGUF file of SentencePiece.
 * See bench/README.md.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { libraryDefinition } from "../../dist/text/library-definition.js";
import { LibraryModelTokenizer } from "../../dist/text/library-tokenizer.js";
import { loadAddon } from "../../dist/native/load-addon.js";
import { describeRun, printTable, spread, summary, writeResults } from "../results.mjs";
import { createCorpus } from "./corpus.mjs";
import { tokenizerJsonOf } from "./gguf-vocabulary.mjs";

const require = createRequire(import.meta.url);
const PEER = "@huggingface/tokenizers";
const MEGA = 1e6;
const NO_FILES = {};

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    repetitions: { type: "string", default: "5" },
    // The peer takes a minute a vocabulary; its ids are compared with ours where it has run.
    "peer-bytes": { type: "string", default: "2000000" },
  },
});

/** CPU seconds of this process, and the result. */
function timed(work) {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return { seconds: (user + system) / MEGA, result };
}

const sameIds = (a, b) => a.length === b.length && a.every((id, i) => id === b[i]);

/** Documents that two encoders disagree on. */
const differing = (documents, ours, theirs) =>
  documents.filter((_, i) => i < theirs.length && !sameIds(ours[i], theirs[i]));

async function encodeInRust(json, documents) {
  const { Tokenizer } = require("tokenizers");
  const tokenizer = Tokenizer.fromString(JSON.stringify(json));
  const ids = [];
  for (const text of documents) {
    const encoding = await tokenizer.encode(text, null, { addSpecialTokens: false });
    ids.push(encoding.getIds());
  }
  return ids;
}

/** Every n-th document, so that all kinds of text are in it. */
function sampleOf(documents, numBytes, allBytes) {
  const stride = Math.max(1, Math.round(allBytes / numBytes));
  return documents.filter((_, i) => i % stride === 0);
}

/** Of a folder with tokenizer.json, or of a GGUF file with byte-level BPE. */
function definitionOf(source) {
  if (source.endsWith(".gguf")) return tokenizerJsonOf(source);
  return JSON.parse(readFileSync(path.join(source, "tokenizer.json"), "utf8"));
}

/** CPU milliseconds of the loads, ours and the peer's in turn, each in a process of its own. */
function loadTimes(file, json) {
  const folder = mkdtempSync(path.join(tmpdir(), "warmloop-bench-"));
  const peerFile = path.join(folder, "tokenizer.json");
  const script = path.join(import.meta.dirname, "load.mjs");
  const load = (...args) => {
    return 1000 * Number(execFileSync(process.execPath, [script, ...args], { encoding: "utf8" }));
  };
  writeFileSync(peerFile, JSON.stringify(json));
  const pairs = Array.from({ length: Number(flags.repetitions) }, () => {
    return { ours: load("ours", file), peer: load("peer", peerFile) };
  });
  rmSync(folder, { recursive: true });
  return pairs;
}

async function measure(name, file, libraryFile, documents) {
  const json = definitionOf(libraryFile);
  const loads = loadTimes(file, json);
  const native = loadAddon().openTokenizer(file);
  const needsNfc = native.facts.needsNfc;
  const encode = (text) => native.encode(needsNfc ? text.normalize("NFC") : text, "parsed", true);

  const ours = documents.map(encode);
  const wrong = differing(documents, ours, await encodeInRust(json, documents));
  if (wrong.length > 0) {
    report(`${name}: not the ids of tokenizers`, wrong);
    process.exitCode = 1;
  }

  const megabytes = (texts) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / MEGA;
  const all = megabytes(documents);
  const rates = Array.from({ length: Number(flags.repetitions) }, () => {
    return all / timed(() => documents.forEach(encode)).seconds;
  });

  const library = new LibraryModelTokenizer(libraryDefinition(json), NO_FILES);
  const sample = sampleOf(documents, Number(flags["peer-bytes"]), all * MEGA);
  const plain = { parseSpecial: true, addBos: false };
  const peer = timed(() => sample.map((text) => [...library.encodePlain(text, plain)]));
  const sampleIds = sample.map(encode);
  const unlike = differing(sample, sampleIds, peer.result);
  if (unlike.length > 0) report(`${name}: not the ids of ${PEER}`, unlike);
  const peerRate = megabytes(sample) / peer.seconds;
  const row = (id, unit, values, peerValues, ratios) => ({
    id: `${id}/${name}`,
    unit,
    ours: summary(values),
    peer: summary(peerValues),
    ratio: spread(ratios),
    disturbed: false,
  });
  return [
    row(
      "encode",
      "MB/s",
      rates,
      [peerRate],
      rates.map((rate) => rate / peerRate),
    ),
    row(
      "load",
      "ms",
      loads.map(({ ours: time }) => time),
      loads.map(({ peer: time }) => time),
      loads.map(({ ours: time, peer: peerTime }) => peerTime / time),
    ),
  ];
}

function report(what, texts) {
  console.error(`${what}: ${texts.length} documents, the first is`);
  console.error(JSON.stringify(texts[0].slice(0, 200)));
}

const run = describeRun("tokenizer");
const documents = createCorpus();
const rows = [];
for (const argument of positionals) {
  const [name, paths] = argument.split("=");
  const [file, libraryFile = file] = paths.split(",").map((part) => path.resolve(part));
  rows.push(...(await measure(name, file, libraryFile, documents)));
}
const { version } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, "../../node_modules", PEER, "package.json"), "utf8"),
);
printTable(
  ["row", "unit", "ours", "peer", "ratio"],
  rows.map(({ id, unit, ours, peer, ratio }) => [id, unit, ours.median, peer.median, ratio.median]),
);
if (process.exitCode === undefined) {
  console.log(writeResults(run, { isa: "baseline", peer: { name: PEER, version }, rows }));
}
