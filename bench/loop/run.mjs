/**
 * `npm run bench:loop [-- --rounds 3 --only refactor --place loop,shaped,light]`: whole agent tasks over
 * HTTP without state, HTTP with previous_response_id, and WebSocket, on this machine, through a slow
 * network, and with a model that costs next to nothing. `--url URL` measures another server and
 * `--quick` the beginnings of the tasks, both without writing a file; `--check-switches` measures nothing
 * and compares outputs. See bench/README.md.
 */
import { parseArgs } from "node:util";
import { systemClock } from "../../dist/base/clock.js";
import { loadAddon } from "../../dist/native/load-addon.js";
import { locateDefaultModel } from "../engine/models.mjs";
import { longContextModel } from "../lanes/long-context-model.mjs";
import { describeRun, GrowingResults, printRows } from "../results.mjs";
import { RefusedRequest, openClient } from "./clients.mjs";
import { MODES, runTask } from "./conversation.mjs";
import { rowsOf, sameTurnsRow } from "./rows.mjs";
import { ShapingProxy } from "./shaping-proxy.mjs";
import { checkSwitches } from "./switches.mjs";
import { GivenServer, OwnServer } from "./target.mjs";
import { shortened, TASKS } from "./tasks.mjs";

const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    place: { type: "string", default: "loop,shaped,light" },
    "output-tokens": { type: "string", default: "20" },
    quick: { type: "boolean", default: false },
    "check-switches": { type: "boolean", default: false },
    url: { type: "string" },
    model: { type: "string" },
    "api-key": { type: "string" },
    pid: { type: "string" },
    head: { type: "string", default: "fields" },
    fields: { type: "string", default: "{}" },
  },
});
const numRounds = Number(flags.rounds);
const numOutputTokens = Number(flags["output-tokens"]);
const chosenTasks = TASKS.filter(({ name }) => name.startsWith(flags.only));
/** Only whether everything runs: the beginnings of the tasks. */
const QUICK = { numTurns: 3, numTools: 2, maxChars: 200 };
const tasks = flags.quick ? chosenTasks.map((task) => shortened(task, QUICK)) : chosenTasks;
const isGiven = flags.url !== undefined;
const places = flags.place.split(",").filter((place) => place !== "light" || !isGiven);
const serverFlags = flags.model === undefined ? [] : ["--model", flags.model];

/** Both ways together a tenth of a second; what a slow line or a phone sends. */
const SHAPED = { delayMs: 50, upBitsPerSecond: 1e6, clock: systemClock };

/** The ends of the default model's answers, which must not come before the last token. */
const NO_END = { logit_bias: { 0: -100, 2: -100 } };

function requestFields(target) {
  return {
    model: target.modelId,
    temperature: 0,
    max_output_tokens: numOutputTokens,
    tool_choice: "none", // the calls are scripted: text only
    ...(!isGiven && NO_END),
    ...target.fields,
    ...JSON.parse(flags.fields),
  };
}

/** One task in one mode. @throws {RefusedRequest} */
async function measure(target, url, task, mode) {
  const { apiKey, leadingLine } = target.nextRun();
  const settings = { fields: requestFields(target), head: target.head, leadingLine };
  const before = target.readCpu();
  const startMs = performance.now();
  const client = await openClient(mode.transport, { url, apiKey });
  try {
    const turns = await runTask(task, mode, client, settings);
    const totalMs = performance.now() - startMs;
    checkLengths(turns);
    return { turns, totalMs, ...client.traffic(), cpu: difference(target.readCpu(), before) };
  } finally {
    client.close();
  }
}

function difference(after, before) {
  if (before === undefined) return undefined;
  return { allMs: after.allMs - before.allMs, mainMs: after.mainMs - before.mainMs };
}

function checkLengths(turns) {
  const short = turns.findIndex(({ usage }) => usage.output_tokens !== numOutputTokens);
  if (short < 0) return;
  const { output_tokens } = turns[short].usage;
  const message = `turn ${short + 1} has ${output_tokens} tokens, wanted are ${numOutputTokens}`;
  throw new Error(`${message}: forbid the server to end early, with --fields`);
}

/** The modes that the server takes, one after the other; which is first changes from round to round. */
async function round(target, url, task, runs, index) {
  const names = Object.keys(runs);
  for (const name of [
    ...names.slice(index % names.length),
    ...names.slice(0, index % names.length),
  ]) {
    try {
      runs[name].push(await measure(target, url, task, MODES[name]));
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      console.log(`${task.name}/${name} is refused: ${error.message}`);
      delete runs[name];
    }
  }
}

/** Rows of one task in one place. */
async function taskRows(target, url, place, task) {
  const runs = Object.fromEntries(Object.keys(MODES).map((name) => [name, []]));
  for (let index = 0; index < numRounds; index++) await round(target, url, task, runs, index);
  if (Object.keys(runs).length === 0) return [];
  const ids = { place, task: task.name };
  return [...rowsOf(ids, runs), ...(isGiven ? [] : [sameTurnsRow(ids, runs)])];
}

async function measurePlace(place, report) {
  const target = await openTarget(place);
  const isShaped = place === "shaped";
  const proxy = isShaped && (await ShapingProxy.start({ targetUrl: target.url, ...SHAPED }));
  try {
    await warmUp(target);
    for (const task of tasks) {
      report(await taskRows(target, isShaped ? proxy.url : target.url, place, task));
    }
  } finally {
    if (isShaped) proxy.stop();
    await target.stop();
  }
}

function openTarget(place) {
  const { url, model, pid, head, "api-key": apiKey } = flags;
  if (isGiven) return GivenServer.open({ url, model, pid, head, apiKey });
  // All tasks, and the warm-up.
  const numRuns = (tasks.length * numRounds + 1) * Object.keys(MODES).length;
  return OwnServer.start({
    numRuns,
    ...(place === "light" ? lightModel() : { flags: serverFlags }),
  });
}

/**
 * Two layers with random weights: what a task takes then is the gateway's time. Every answer is one
 * word that the tokenizer has as a token, so that all modes have equal prompts.
 */
function lightModel() {
  const model = longContextModel(locateDefaultModel());
  const [wordId] = loadAddon().openTokenizer(model).encode(" yes", "text", false);
  return { flags: ["--model", model], fields: { logit_bias: { [wordId]: 100 } } };
}

/** The first requests of a process are slow, since its code is compiled meanwhile: they are not counted. */
async function warmUp(target) {
  const runs = Object.fromEntries(Object.keys(MODES).map((name) => [name, []]));
  await round(target, target.url, shortened(TASKS[0], QUICK), runs, 0);
}

async function main() {
  const unknown = places.find((place) => !["loop", "shaped", "light"].includes(place));
  if (unknown !== undefined)
    throw new Error(`--place takes loop, shaped and light, not ${unknown}`);
  if (flags["check-switches"]) return await checkSwitches(tasks, requestFields, serverFlags);
  const run = describeRun("loop");
  const disturbed = run.machine.load[0] > run.machine.cores / 2;
  const isa = loadAddon().probeDevices()[0].isaLevels.at(-1);
  const results = isGiven || flags.quick ? undefined : new GrowingResults(run, { isa });
  for (const place of places) {
    await measurePlace(place, (rows) => {
      printRows(rows);
      for (const row of rows) results?.put({ ...row, disturbed });
    });
  }
}

await main();
