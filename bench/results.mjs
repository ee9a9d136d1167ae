/**
 * What all benchmarks share: statistics, facts of the machine, the table and the result file
 * `bench/results/<bench>-<cpu>-<n>c.json`, whose keys scripts rely on.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "..");
const SCHEMA = 1;

/** Four significant digits: more than any of these measurements is worth. */
export const rounded = (value) => Number(value.toPrecision(4));

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** `{median, min, max, n}` of the samples. */
export function summary(samples) {
  return { ...spread(samples), n: samples.length };
}

/** `{median, min, max}` of the samples. */
export function spread(samples) {
  return {
    median: rounded(median(samples)),
    min: rounded(Math.min(...samples)),
    max: rounded(Math.max(...samples)),
  };
}

/** Family and model beside the brand: virtual machines often say no more than "AMD EPYC". */
function cpuName() {
  const text = readFileSync("/proc/cpuinfo", "utf8");
  const field = (name) => new RegExp(`^${name}\\s*: (.*)$`, "m").exec(text)?.[1];
  const brand = (field("model name") ?? cpus()[0]?.model ?? "unknown").trim();
  const family = field("cpu family");
  return family === undefined ? brand : `${brand} family ${family} model ${field("model")}`;
}

const git = (...args) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();

/** Call it before measuring: `load` is the machine as it was found. */
export function describeRun(bench) {
  return {
    bench,
    command: ["node", path.relative(ROOT, process.argv[1]), ...process.argv.slice(2)].join(" "),
    commit: git("rev-parse", "HEAD"),
    dirty: git("status", "--porcelain", "--", ".", ":!bench/results") !== "",
    time: new Date().toISOString(),
    machine: { cpu: cpuName(), cores: cpus().length, load: loadavg().map(rounded) },
  };
}

/** Writes the result file and returns its path from the repository's root. */
export function writeResults({ machine, ...run }, { isa, peer, rows }) {
  const { cpu, cores, load } = machine;
  const slug = cpu.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  const file = path.join("bench", "results", `${run.bench}-${slug}-${cores}c.json`);
  const content = { schema: SCHEMA, ...run, machine: { cpu, isa, cores, load }, peer, rows };
  mkdirSync(path.join(ROOT, "bench", "results"), { recursive: true });
  writeFileSync(path.join(ROOT, file), `${JSON.stringify(content, null, 1)}\n`);
  return file;
}

/** Columns as wide as their widest cell; the first one is aligned left, numbers right. */
export function printTable(header, lines) {
  const table = [header, ...lines].map((line) => line.map(String));
  const widths = header.map((_, column) => Math.max(...table.map((line) => line[column].length)));
  for (const line of table) {
    const cells = line.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
    );
    console.log(cells.join("  "));
  }
}
