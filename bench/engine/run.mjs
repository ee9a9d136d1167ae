/**
 * `npm run bench:engine [-- --model PATH --repetitions N --threads 1,2 --only TEXT --clock cpu]`:
 * our engine beside the peer on the same file, in one run. See bench/README.md.
 */
import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { describeRun, printTable, spread, summary, writeResults } from "../results.mjs";
import { comparePairs, EngineProcess } from "./compare.mjs";
import { installPeer, PEER } from "./peer-engine.mjs";
import { workloads } from "./workloads.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

const { values: flags } = parseArgs({
  options: {
    model: { type: "string" },
    repetitions: { type: "string", default: "7" },
    threads: { type: "string", default: availableParallelism() > 1 ? "1,2" : "1" },
    only: { type: "string", default: "" },
    clock: { type: "string", default: "wall" },
  },
});

/** The default model, downloaded if it has to be. */
function pullDefaultModel() {
  const cli = path.join(ROOT, "dist", "cli", "main.js");
  const stdio = ["ignore", "pipe", "inherit"];
  return execFileSync(process.execPath, [cli, "models", "pull"], {
    stdio,
    encoding: "utf8",
  }).trim();
}

/** `SmolLM2-135M-Instruct.Q4_1.gguf` -> `smollm2-q4_1`: family and weight type. */
function shortName(modelPath) {
  const stem = path.parse(modelPath).name.toLowerCase();
  const match = /^([^-.]+).*[-.]((?:q\d|f|bf)\w+)$/.exec(stem);
  return match === null ? stem : `${match[1]}-${match[2]}`;
}

/** Tokens a second. The CPU clock counts the engine's own time as if it had its threads alone. */
function rate({ wallMs, cpuMs }, { ratedTokens, open: { threads } }) {
  const ms = flags.clock === "cpu" ? cpuMs / threads : wallMs;
  return (1000 * ratedTokens) / ms;
}

function toRow(workload, { pairs, isDisturbed }) {
  const { id, target } = workload;
  const rates = pairs.map(({ ours, peer }) => [rate(ours, workload), rate(peer, workload)]);
  const ratio = spread(rates.map(([ours, peer]) => ours / peer));
  return {
    id,
    unit: "tok/s",
    ours: summary(rates.map(([ours]) => ours)),
    peer: summary(rates.map(([, peer]) => peer)),
    ratio,
    ...(target === undefined ? {} : { target, met: ratio.median >= target }),
    disturbed: isDisturbed,
  };
}

function coresUsed(pairs, side) {
  const used = pairs.map((pair) => pair[side].cpuMs / pair[side].wallMs);
  return spread(used).median.toFixed(2);
}

function tableLine({ id, ours, peer, ratio, target, met, disturbed }, pairs) {
  const of = ({ median, min, max }) => `${median} (${min} - ${max})`;
  return [
    id,
    of(ours),
    of(peer),
    of(ratio),
    target === undefined ? "" : `${target} ${met ? "met" : "missed"}`,
    `${coresUsed(pairs, "ours")} / ${coresUsed(pairs, "peer")}`,
    disturbed ? "disturbed" : "",
  ];
}

const modelPath = flags.model === undefined ? pullDefaultModel() : path.resolve(flags.model);
installPeer();
const run = describeRun("engine");
const engines = [new EngineProcess("warmloop", modelPath), new EngineProcess("peer", modelPath)];
const rows = [];
const lines = [];
let isa;
for (const workload of workloads(shortName(modelPath), flags.threads.split(",").map(Number))) {
  if (!workload.id.includes(flags.only)) continue;
  const [opened] = await Promise.all(engines.map((engine) => engine.ask({ open: workload.open })));
  isa = opened.isa;
  const options = { threads: workload.open.threads, repetitions: Number(flags.repetitions) };
  const result = await comparePairs(engines, { run: workload.run, ...options });
  rows.push(toRow(workload, result));
  lines.push(tableLine(rows.at(-1), result.pairs));
  process.stderr.write(`${lines.at(-1).slice(0, 4).join("  ")}\n`);
}
for (const engine of engines) engine.end();
const header = ["tokens a second", "ours", `${PEER.name} ${PEER.version}`, "ours / peer"];
printTable([...header, "target", "cores used", ""], lines);
console.log(`\nwrote ${writeResults(run, { isa, peer: PEER, rows })}`);
