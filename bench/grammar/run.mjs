/**
 * `npm run bench:grammar [-- --threads 1,2 --rounds 5 --peer-tools 40]`: how long real tools take to
 * compile and their masks to fill, beside xgrammar and node-llama-cpp on the same vocabulary, and what
 * a grammar does to the speed of decoding, beside node-llama-cpp's on the same file. The tools are those of
 * WARMLOOP_TEST_DATA. See bench/README.md.
 */
import { parseArgs } from "node:util";
import { realTools } from "../../test/tools/real-tools.ts";
import { installPeer, PEER } from "../engine/peer-engine.mjs";
import { REAL_MODELS } from "../engine/models.mjs";
import { describeRun, judged, median, printTable, summary, writeResults } from "../results.mjs";
import { ourRates, peerRates, SCHEMAS } from "./decode.mjs";
import { measureMasks } from "./masks.mjs";
import { XGRAMMAR } from "./xgrammar.mjs";

const PROMPT = "The settings of the search, and what was found:\n";
/** Tools whose calls are decoded. */
const NUM_CALLS = 12;
/** Of any machine. `of-free` is a ratio, the others are bounds. */
const TARGETS = {
  "compile/tools/p50": 5,
  "mask-of-step/p99": 0.01,
  "of-free/string": 0.95,
  "of-free/flags": 1,
  "of-free/tools": 1,
};

const { values: flags } = parseArgs({
  options: {
    threads: { type: "string", default: "1,2" },
    rounds: { type: "string", default: "5" },
    "peer-tools": { type: "string", default: "40" },
  },
});

/** Rounds of one kind over those of free decoding beside them. */
const ofFree = (rates, kind) => rates[kind].map((value, round) => value / rates.free[round]);

/** The file's peer is xgrammar. */
const decodePeer = (values) => ({ name: `${PEER.name} ${PEER.version}`, ...summary(values) });

function decodeRows(ours, theirs, threads) {
  const free = {
    id: `free/t${threads}`,
    unit: "tokens/s",
    ours: summary(ours.free),
    peer: decodePeer(theirs.free),
  };
  const kinds = [...Object.keys(SCHEMAS), "tools"].map((kind) => ({
    id: `of-free/${kind}/t${threads}`,
    unit: "of free decoding",
    ours: summary(ofFree(ours, kind)),
    ...(kind in theirs && { peer: decodePeer(ofFree(theirs, kind)) }),
  }));
  return [free, ...kinds];
}

function maskShare(maskRow, freeRates, threads) {
  const stepMs = 1000 / median(freeRates);
  return {
    id: `mask-of-step/p99/t${threads}`,
    unit: "x of 1",
    ours: summary([maskRow.ours.median / stepMs]),
    peer: summary([maskRow.peer.median / stepMs]),
  };
}

const targetOf = (id) => TARGETS[id.replace(/\/t\d+$/, "")];

if (realTools.length === 0) {
  console.error("skipped: the tools are in the folder that WARMLOOP_TEST_DATA names");
  process.exit(0);
}
const run = describeRun("grammar");
installPeer();
const [model] = REAL_MODELS;
const modelPath = model.locate();
const { rows, compiled, notes } = await measureMasks({
  modelPath,
  tools: realTools,
  peerTools: Number(flags["peer-tools"]),
});
for (const note of notes) console.error(note);
const stride = Math.ceil(compiled.length / NUM_CALLS);
const tools = compiled.filter((_, i) => i % stride === 0);
const rounds = Number(flags.rounds);
let machineIsa;
for (const threads of flags.threads.split(",").map(Number)) {
  const settings = { modelPath, threads, prompt: PROMPT, rounds };
  const { rates: ours, isa } = await ourRates({ ...settings, tools });
  machineIsa = isa;
  const theirs = await peerRates(settings);
  rows.push(
    maskShare(
      rows.find(({ id }) => id === "mask/tools/p99"),
      ours.free,
      threads,
    ),
  );
  rows.push(...decodeRows(ours, theirs, threads));
}
const { load, cores } = run.machine;
const disturbed = load[0] > cores / 2;
const all = rows.map((row) => ({ ...judged(row, targetOf(row.id)), disturbed }));
printTable(
  ["row", "unit", "ours", "peer", "target", "met"],
  all.map(({ id, unit, ours, peer, target, met }) => [
    id,
    unit,
    ours.median,
    peer?.median ?? "",
    target ?? "",
    met ?? "",
  ]),
);
console.log(writeResults(run, { isa: machineIsa, peer: XGRAMMAR, rows: all }));
