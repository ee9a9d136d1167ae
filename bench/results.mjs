/**
 * What all benchmarks share: statistics, facts of the machine, the table and the result file
 * `bench/results/<bench>-<cpu>-<n>c.json`, whose keys scripts rely on.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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

/** The value that the share `q` of all lies at or below. */
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
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

/**
 * The kinds of machine that targets are stated for: the peer's speed depends on its instruction sets
 * more than ours does.
 */
export function machineKind(cpuinfo = readFileSync("/proc/cpuinfo", "utf8")) {
  const flags = new Set(/^flags\s*: (.*)$/m.exec(cpuinfo)?.[1].split(" "));
  if (flags.has("amx_int8") && flags.has("amx_tile")) return "amx";
  return flags.has("avx512_vnni") ? "avx512" : "other";
}

/** Units of which less is better, judged by what ours took; rates are judged by their ratio. */
const COSTS = new Set(["x of 1", "tokens", "nats", "ms", "steps"]);

/** The row with `target` and whether it was met; without a target, as it is. */
export function judged(row, target) {
  if (target === undefined) return row;
  const { unit, ours, ratio } = row;
  const met = COSTS.has(unit) ? ours.median <= target : (ratio ?? ours).median >= target;
  return { ...row, target, met };
}

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

function resultFile({ bench, machine: { cpu, cores } }) {
  const slug = cpu.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return path.join("bench", "results", `${bench}-${slug}-${cores}c.json`);
}

/** Writes the result file and returns its path from the repository's root. */
export function writeResults({ machine, ...run }, { isa, peer, rows }) {
  const { cpu, cores, load } = machine;
  const file = resultFile({ ...run, machine });
  const content = { schema: SCHEMA, ...run, machine: { cpu, isa, cores, load }, peer, rows };
  mkdirSync(path.join(ROOT, "bench", "results"), { recursive: true });
  writeFileSync(path.join(ROOT, file), `${JSON.stringify(content, null, 1)}\n`);
  return file;
}

/**
 * A result file that is written after every row, so that an interrupted run loses nothing. Rows of an
 * earlier run stay until they are measured again: each says of which commit and time it is.
 */
export class GrowingResults {
  #run;
  #facts;
  #rows;

  constructor(run, facts) {
    this.#run = run;
    this.#facts = facts;
    const file = path.join(ROOT, resultFile(run));
    this.#rows = existsSync(file) ? datedRows(JSON.parse(readFileSync(file, "utf8"))) : [];
  }

  /** Returns the file's path from the repository's root. */
  put(row) {
    const { commit } = this.#run;
    const dated = { ...row, commit, time: new Date().toISOString() };
    this.#rows = withRow(this.#rows, dated);
    return this.#write();
  }

  /** After a run of everything: rows that nothing measures any more go. */
  keepOnly(ids) {
    this.#rows = this.#rows.filter(({ id }) => ids.includes(id));
    return this.#write();
  }

  #write() {
    return writeResults(this.#run, { ...this.#facts, rows: this.#rows });
  }
}

/** Rows that do not say of which run they are belong to the file's. */
const datedRows = ({ commit, time, rows }) => rows.map((row) => ({ commit, time, ...row }));

/**
 * The rows with `row` in the place of the one with its id, or at the end.
 * @template {{id: string}} R
 * @param {R[]} rows
 * @param {R} row
 */
export function withRow(rows, row) {
  const index = rows.findIndex(({ id }) => id === row.id);
  return index < 0 ? [...rows, row] : rows.with(index, row);
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

/** Rows of a result file that compare with no peer. */
export function printRows(rows) {
  printTable(
    ["row", "unit", "median", "min", "max", "target", "met"],
    rows.map(({ id, unit, ours, target, met }) => [
      id,
      unit,
      ours.median,
      ours.min,
      ours.max,
      target ?? "",
      met ?? "",
    ]),
  );
}
