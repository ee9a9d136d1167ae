/**
 * `npm run bench:kernels`: builds wl_bench_kernels beside the addon, runs it, prints its table and
 * writes the result file. The peer of each row is the roof of this machine for that row.
 */
import { spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { describeRun, printTable, rounded, spread, summary, writeResults } from "../results.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PROGRAM = path.join(ROOT, "native", "build", "wl_bench_kernels");

function build() {
  const env = { ...process.env, WL_CMAKE_WL_BENCH: "ON" };
  const args = [path.join(ROOT, "native", "build.mjs")];
  const { status } = spawnSync(process.execPath, args, { stdio: ["ignore", 2, 2], env });
  if (status !== 0) throw new Error("wl_bench_kernels was not built; the messages above say why");
}

/** Rows of the program as it prints them; a result that is wrong is an error. */
async function runProgram() {
  const program = spawn(PROGRAM, { stdio: ["ignore", "pipe", "inherit"] });
  const exit = new Promise((resolve) => program.on("close", resolve));
  const rows = [];
  for await (const line of createInterface({ input: program.stdout })) {
    rows.push(JSON.parse(line));
    process.stderr.write(`${rows.at(-1).id}\n`);
  }
  const wrong = rows.filter((row) => row.mismatch).map((row) => row.id);
  if (wrong.length > 0) throw new Error(`differs from the scalar reference: ${wrong.join(", ")}`);
  const code = await exit;
  if (code !== 0) throw new Error(`wl_bench_kernels ended with ${code}`);
  return rows;
}

function toResultRow({ id, unit, rates, roof, disturbed }) {
  const row = { id, unit, ours: summary(rates) };
  if (roof !== undefined) {
    row.peer = { median: rounded(roof), min: rounded(roof), max: rounded(roof), n: 1 };
    row.ratio = spread(rates.map((rate) => rate / roof));
  }
  return { ...row, disturbed };
}

function print(rows) {
  const lines = rows.map(({ id, unit, ours, peer, ratio, disturbed }) => [
    id,
    ours.median,
    unit,
    `${ours.min} - ${ours.max}`,
    peer?.median ?? "",
    ratio === undefined ? "" : `${Math.round(100 * ratio.median)} %`,
    disturbed ? "disturbed" : "",
  ]);
  printTable(["case", "median", "unit", "min - max", "roof", "of roof", ""], lines);
}

const run = describeRun("kernels");
build();
const rows = (await runProgram()).map(toResultRow);
print(rows);
const levels = [...new Set(rows.map(({ id }) => id.split("/").at(-1)))];
const peer = { name: "this machine's measured peak", version: "bench/kernels/peaks.cpp" };
console.log(`\nwrote ${writeResults(run, { isa: levels.at(-1), peer, rows })}`);
