// The steps of a case of kind `http`: requests in order, repeated, in parallel, or left in the middle.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEvents, resultOf, viewOfEvents } from "./answer-view.mjs";
import { REPLACEMENT } from "./comparison.mjs";
import { exchange, getText } from "./exchange.mjs";
import { scrapeMetrics, sumMetrics } from "./metrics.mjs";
import { authorization } from "./servers.mjs";
import { expand, fail } from "./values.mjs";
import { UPGRADE } from "./websocket.mjs";

export const METHODS = ["post", "get", "options", "upgrade"];

/** Runs a step as often as it says. What came of it lies in `context.results`, by the step's id. */
export async function runStep(step, context) {
  if (step.delay_ms) await sleep(step.delay_ms);
  const count = step.times ?? step.parallel ?? 1;
  const runs = Array.from({ length: count }, (_, index) => () => runOnce(step, index, context));
  const stopPolling = step.meanwhile && pollMeanwhile(step.meanwhile, context.server.url);
  const results = await inParallel(runs, step.parallel ?? 1);
  if (stopPolling) results[0].meanwhile = await stopPolling();
  const isList = step.times !== undefined || step.parallel !== undefined;
  context.results[step.id] = isList ? results : results[0];
  context.all.push(...results);
}

/** The same request without format or grammar: what a constrained run's speed is compared with. */
export async function runFreeTwin(step, context) {
  const { response_format: _f, tools: _t, tool_choice: _c, text: _x, ...body } = step.body;
  await runStep({ ...step, id: "free_run", body }, context);
}

async function runOnce(step, index, caseContext) {
  const context = { ...caseContext, index };
  const left = context.deadline - performance.now(); // one slow step must not hold up the whole run
  if (left <= 0) return notSent(index);
  const method = METHODS.find((key) => step[key] !== undefined);
  const route = step[method];
  const { payload, request } = buildPayload(step, context);
  if (payload?.includes(REPLACEMENT)) caseContext.sentReplacement = true;
  const before = step.metrics && (await scrapeMetrics(context));
  const got = await exchange(context.server.url + route, {
    method: method === "upgrade" ? "GET" : method.toUpperCase(),
    headers: buildHeaders(step, payload, context),
    payload,
    timeoutMs: Math.min((step.timeout_s ?? context.timeoutS) * 1000, left),
    ...abortPlan(step),
  });
  const result = resultOf(got, { method, route, request, index });
  if (route === "/metrics") result.metrics = sumMetrics(result.raw, context.metricNames);
  if (step.metrics) {
    const after = await scrapeMetrics(context);
    result.metrics_delta = step.metrics.map((name) =>
      after[name] === undefined ? null : after[name] - (before[name] ?? 0),
    );
  }
  return result;
}

function notSent(index) {
  const got = { status: 0, headers: {}, chunks: [], error: "not sent, the case took too long" };
  return resultOf(got, { index, method: "post", route: "" });
}

/** The bytes of a step's body, and the object they came from, for what is expected of its schema. */
function buildPayload(step, context) {
  if (step.raw !== undefined) return { payload: Buffer.from(expand(step.raw, context)) };
  if (step.raw_hex !== undefined) return { payload: Buffer.from(step.raw_hex, "hex") };
  if (step.body === undefined) return {};
  const request = expand(step.body, context);
  return { request, payload: Buffer.from(JSON.stringify(request)) };
}

function buildHeaders(step, payload, context) {
  const key = () => ({ "sec-websocket-key": randomBytes(16).toString("base64") });
  return {
    ...(step.upgrade && { ...UPGRADE, ...key() }),
    ...(payload && { "content-type": "application/json", "content-length": payload.length }),
    ...authorization(context.server),
    ...expand(step.headers ?? {}, context),
  };
}

function abortPlan({ abort_after: when }) {
  if (when === undefined) return {};
  if (when !== "first_delta") fail(`unknown abort_after ${when}`);
  return {
    abortWhen: ({ chunks }) =>
      viewOfEvents(parseEvents(Buffer.concat(chunks).toString("utf8")).events).text !== "",
  };
}

/** Polls another route until stopped; the longest answer tells whether the step blocked the server. */
function pollMeanwhile(plan, url) {
  let running = true;
  const seen = { max_ms: 0, count: 0, failed: 0 };
  const poll = async () => {
    while (running) {
      const got = await getText(url + plan.get, 60_000);
      seen.count += 1;
      seen.max_ms = Math.max(seen.max_ms, got.ms);
      if (got.status !== 200) seen.failed += 1;
      await sleep(plan.every_ms);
    }
    return seen;
  };
  const polled = poll();
  return () => {
    running = false;
    return polled;
  };
}

/** Results in the order of the jobs. */
async function inParallel(jobs, width) {
  const results = new Array(jobs.length);
  let next = 0;
  const worker = async () => {
    while (next < jobs.length) {
      const k = next++;
      results[k] = await jobs[k]();
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
