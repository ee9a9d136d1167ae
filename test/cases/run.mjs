#!/usr/bin/env node
// The cases from the command line, against any server of these APIs that runs already, or against servers
// that an adapter starts:
//
//   node test/cases/run.mjs --url http://127.0.0.1:PORT [--model ID] [--api-key KEY] [--only ID,ID]
//   node --import tsx test/cases/run.mjs --adapter test/cases/adapter/adapter.ts
//
// `--timeout` bounds one request and `--case-timeout` one case, in seconds. `--json FILE` gets every
// expectation that failed, not only the first. Exit code: 0, 1 with a failure or an error, 2 usage.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { openRun, readCases } from "./runner/open-run.mjs";
import { lineOf, summaryOf, totalsByArea } from "./runner/report.mjs";
import { runCase } from "./runner/run-case.mjs";
import { firstModel } from "./runner/servers.mjs";
import { CaseError } from "./runner/values.mjs";

const OPTIONS = ["url", "adapter", "model", "api-key", "only", "timeout", "case-timeout", "json"];
const CASES = path.join(import.meta.dirname, "cases.jsonl");

function usage(message) {
  const others = OPTIONS.slice(2).map((name) => `[--${name} X]`);
  console.error(`${message}\nusage: run.mjs (--url URL | --adapter FILE) ${others.join(" ")}`);
  process.exit(2);
}

function readOptions() {
  try {
    const options = Object.fromEntries(OPTIONS.map((name) => [name, { type: "string" }]));
    const { values } = parseArgs({ options });
    if (!values.url && !values.adapter) usage("give --url or --adapter");
    return values;
  } catch (error) {
    return usage(error.message);
  }
}

function chooseCases(only) {
  const cases = readCases(CASES);
  if (!only) return cases;
  const wanted = only.split(",");
  const unknown = wanted.filter((id) => !cases.some((item) => item.id === id));
  if (unknown.length > 0) usage(`no such case: ${unknown.join(", ")}`);
  return cases.filter(({ id }) => wanted.includes(id));
}

async function openRunFor(options) {
  const url = options.url?.replace(/\/+$/, "");
  const apiKey = options["api-key"];
  return openRun({
    ...{ url, apiKey },
    model: url && (options.model ?? (await firstModel(url, apiKey))),
    adapter: options.adapter && (await import(pathToFileURL(path.resolve(options.adapter)))),
    dataFolder: process.env.WARMLOOP_TEST_DATA || undefined,
    ...(options.timeout && { timeoutS: Number(options.timeout) }),
    ...(options["case-timeout"] && { caseTimeoutS: Number(options["case-timeout"]) }),
  });
}

async function main() {
  const options = readOptions();
  const cases = chooseCases(options.only);
  const run = await openRunFor(options);
  const outcomes = [];
  try {
    for (const item of cases) {
      const outcome = await runCase(item, run);
      outcomes.push(outcome);
      console.log(lineOf(outcome));
      const report = { url: options.url, cases: outcomes, totals: totalsByArea(outcomes) };
      if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 1)}\n`);
    }
  } finally {
    await run.close();
  }
  console.log(`\n${summaryOf(outcomes)}`);
  process.exitCode = outcomes.some(({ state }) => ["fail", "error"].includes(state)) ? 1 : 0;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof CaseError)) throw error;
  usage(error.message);
}
