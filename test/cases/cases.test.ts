/**
 * Failures that users reported of other servers, as cases against really started servers (README.md): a
 * test for each. The ones that need files which are not ours are skipped without WARMLOOP_TEST_DATA.
 */
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { testDataFolder } from "../fixture-models.ts";
import * as adapter from "./adapter/adapter.ts";
import { type Case, reduceCase } from "./reduced-cases.ts";
import { openRun, readCases } from "./runner/open-run.mjs";
import { describeFailure } from "./runner/report.mjs";
import { runCase } from "./runner/run-case.mjs";

interface Failure {
  readonly path: string;
  readonly op: string;
  readonly want: string;
  readonly got: string;
}

interface Outcome {
  readonly state: "ok" | "fail" | "skip" | "error";
  /** Of a skip or an error. */
  readonly reason?: string;
  readonly failures?: readonly Failure[];
}

/** Cases whose features do not exist yet. One that could run must leave this list. */
const NOT_YET = ["EK-08", "EK-09", "HA-03", "HA-04", "HA-06", "HA-07", "HA-10", "HA-11"];

/** May be skipped: a control group cannot be made everywhere, nor can npm always fetch vocabularies. */
const NEEDS_SURROUNDINGS = ["OP-05", "TT-03"];

/**
 * Takes ten minutes, and says nothing sooner: what a tiny model answers in seconds leaves more garbage
 * between two full collections than the case allows to grow. `run.mjs --only EK-07` runs it.
 */
const BY_HAND = ["EK-07"];

/** Cases that chance can fail: they have as many tries. */
const TRIES: Readonly<Record<string, number>> = {
  "API-14": 6, // the answer is drawn, and may repeat the replacement character of the question
  "EK-10": 3, // it waits a second for a request to end
};

/** Time limits of a case are for a quiet machine: they are printed and decide nothing here. */
const IS_TIME = /(^|\.)(ms|max_ms|headers_ms|max_gap_ms|ms_per_token|ms_after_signal)$/;

/** Ends what hangs, on a machine that has ten things to do at once. */
const LIMIT_S = 1800;

const run = openRun({
  adapter,
  dataFolder: testDataFolder,
  ...{ timeoutS: LIMIT_S, caseTimeoutS: LIMIT_S },
});
afterAll(() => run.close());

/** Without the failures that are but slow. */
async function runOnce(item: Case): Promise<Outcome> {
  const outcome = (await runCase(item, run)) as Outcome;
  const failures = outcome.failures ?? [];
  const slow = failures.filter((failure) => IS_TIME.test(failure.path));
  for (const failure of slow) console.log(`${item.id} is slow: ${describeFailure(failure)}`);
  if (slow.length < failures.length || outcome.state !== "fail") return outcome;
  return { state: "ok" };
}

async function runWithTries(item: Case): Promise<Outcome> {
  let outcome = await runOnce(item);
  for (let left = TRIES[item.id] ?? 1; outcome.state === "fail" && left > 1; --left) {
    outcome = await runOnce(item);
  }
  return outcome;
}

function maySkip({ id, input }: Case): boolean {
  const needsData = testDataFolder === undefined && JSON.stringify(input).includes('"shared:');
  return needsData || NOT_YET.includes(id) || NEEDS_SURROUNDINGS.includes(id);
}

const cases = (readCases(path.join(import.meta.dirname, "cases.jsonl")) as Case[]).map(reduceCase);

for (const item of cases) {
  test(`${item.id}: ${item.title}`, { timeout: 2 * LIMIT_S * 1000 }, async ({ skip }) => {
    if (BY_HAND.includes(item.id)) skip(`run.mjs --only ${item.id} runs it`);
    const { state, reason, failures = [] } = await runWithTries(item);
    if (state === "skip" && maySkip(item)) skip(reason);
    expect(failures.map(describeFailure), reason).toEqual([]);
    expect(state, reason).toBe("ok");
    expect(NOT_YET).not.toContain(item.id);
  });
}
