// One case from its first step to what came of it: ok, fail, skip or error.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { checkAlways } from "./always.mjs";
import { getText } from "./exchange.mjs";
import { check } from "./expect.mjs";
import { runFreeTwin, runStep } from "./http-steps.mjs";
import { scrapeMetrics } from "./metrics.mjs";
import { assertReadable, HOOK_KINDS } from "./readable.mjs";
import { Skip } from "./skip.mjs";
import { runSocketCase } from "./socket-case.mjs";
import { CaseError, fail } from "./values.mjs";

/** `run` is of `openRun`. Never throws. */
export async function runCase(item, run) {
  const started = performance.now();
  const outcome = (state, rest) => {
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    return { id: item.id, area: item.area, kind: item.kind, state, seconds, ...rest };
  };
  try {
    assertReadable(item, run.extraOperators);
    const isHooked = HOOK_KINDS.includes(item.kind);
    const failures = await (isHooked ? runHookCase(item, run) : runServerCase(item, run));
    return outcome(failures.length > 0 ? "fail" : "ok", { failures });
  } catch (error) {
    if (error instanceof Skip) return outcome("skip", { reason: error.message });
    return outcome("error", { reason: error instanceof CaseError ? error.message : error.stack });
  }
}

// ---- Kinds `http` and `ws`

async function runServerCase(item, run) {
  const context = await makeContext(item, run);
  try {
    if (item.kind === "ws") await runSocketCase(item.input, context);
    else await runSteps(item, context, run);
    if (mentions(item, "metrics")) context.results.metrics = await scrapeMetrics(context);
    const failures = judgeAll(item, context, run);
    if (await isHealthy(context.server.url)) return failures;
    await run.servers.stop(); // the next case gets a new one where an adapter can start it
    return [...failures, { path: "always.health", op: "==", want: "200", got: "no answer" }];
  } finally {
    const hasOwnServer = item.input.server || item.input.steps?.some((step) => step.server);
    if (hasOwnServer) await run.servers.stop();
  }
}

async function makeContext(item, run) {
  const server = await run.servers.get(item.input.server);
  return {
    server,
    vars: { ...run.vars, ...serverVars(server) },
    results: {}, // by step id, what the paths of `expect` start at
    all: [], // every answer, for what must always hold
    index: 0,
    metricNames: run.adapter?.metricNames ?? {},
    timeoutS: run.timeoutS,
    deadline: performance.now() + run.caseTimeoutS * 1000,
    sentReplacement: false,
  };
}

const serverVars = ({ model, url }) => ({ M: model, P: new URL(url).port });

/** Runs all steps; memory and descriptors are compared from the first step's end (warm) to the last's. */
async function runSteps(item, context, run) {
  const { steps } = item.input;
  const watched = mentions(item, "proc");
  if (watched && !context.server.pid) throw new Skip("needs adapter: pid of the server");
  let warm;
  for (const step of steps) {
    if (step.server) {
      context.server = await run.servers.get(step.server);
      Object.assign(context.vars, serverVars(context.server));
    }
    await runStep(step, context);
    if (watched) warm ??= readProcess(context.server.pid);
  }
  if (mentionsTwin(item)) await runFreeTwin(steps[0], context);
  if (watched) context.results.proc = growthSince(warm, readProcess(context.server.pid));
}

const mentions = (item, name) => JSON.stringify(item.expect).includes(`"${name}.`);
/** Also behind an operator: `free_run.ms_per_token|1.3`. */
const mentionsTwin = (item) => JSON.stringify(item.expect).includes("free_run.");

const growthSince = (before, after) => ({
  anon_plus_swap: { growth_mib: after.mib - before.mib },
  fds: { growth: after.fds - before.fds },
});

/** Anonymous memory with swap, and open descriptors; numbers that no expectation takes once it died. */
function readProcess(pid) {
  if (!existsSync(`/proc/${pid}/fd`)) return { mib: Number.NaN, fds: Number.NaN };
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kib = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
  return {
    mib: (kib("RssAnon") + kib("VmSwap")) / 1024,
    fds: readdirSync(`/proc/${pid}/fd`).length,
  };
}

async function isHealthy(url) {
  for (let attempt = 0; attempt < 5; attempt++) {
    if ((await getText(`${url}/health`, 5000)).status === 200) return true;
    await sleep(1000);
  }
  return false;
}

/** Answers that were cut come first: what follows from them says little. */
function judgeAll(item, context, run) {
  const always = checkAlways(context.all, context.sentReplacement);
  const isCut = ({ path }) => path === "always.answered";
  return [
    ...always.filter(isCut),
    ...judge(item, context.results, context.vars, run),
    ...always.filter((breach) => !isCut(breach)),
  ];
}

// ---- Kinds that an adapter runs

/** A hook may return a list, one world for each variant of the input: all must hold. */
async function runHookCase(item, run) {
  const hook = run.adapter?.hooks?.[item.kind];
  if (!hook) throw new Skip(`needs adapter: hook ${item.kind}`);
  const world = await hook(item.input, { id: item.id, vars: run.vars });
  if (world.skip) throw new Skip(world.skip);
  const worlds = [world].flat();
  if (worlds.length === 0) fail(`hook ${item.kind} returned nothing`);
  const failuresOf = worlds.map((each) => judge(item, each, run.vars, run));
  return failuresOf.find((failures) => failures.length > 0) ?? [];
}

function judge({ input, expect }, results, vars, run) {
  const scope = { ...results, input, expandContext: { vars, results: {}, index: 0 } };
  return expect.map((expectation) => check(expectation, scope, run.extraOperators)).filter(Boolean);
}
