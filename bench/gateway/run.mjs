/**
 * `npm run bench:gateway [-- --rounds 5 --turns 30 --megabytes 10 --idle-sockets 5000]`: how long a huge
 * prompt holds the event loop of the gateway, what another client notices of it, and what idle sockets
 * cost. See bench/README.md.
 */
import { parseArgs } from "node:util";
import { loadAddon } from "../../dist/native/load-addon.js";
import { describeRun, judged, median, printRows, summary, writeResults } from "../results.mjs";
import { ActiveLane, openIdleSockets, sendOverHttp, sendOverWebSocket } from "./clients.mjs";
import { BenchServer } from "./server.mjs";

const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    turns: { type: "string", default: "30" },
    megabytes: { type: "string", default: "10" },
    "idle-sockets": { type: "string", default: "5000" },
  },
});
const rounds = Number(flags.rounds);
/** Of one lane, for a median. */
const numTurns = Number(flags.turns);
const numIdle = Number(flags["idle-sockets"]);
const numBytes = Number(flags.megabytes) * 1e6;
const SENTENCE = "The quick brown fox jumps over the lazy dog, and 42 other animals look on. ";
const TARGETS = { "first-token/of-alone": 1.1 };

const textOf = (bytes) => SENTENCE.repeat(Math.ceil(bytes / SENTENCE.length)).slice(0, bytes);

/** One text, and a history of the most items that a request may have. */
function hugeInputs() {
  const numItems = 4096;
  const item = (index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: textOf(Math.floor(numBytes / numItems) - 60),
  });
  return {
    text: textOf(numBytes - 1000),
    items: Array.from({ length: numItems }, (_, index) => item(index)),
  };
}

const SENDERS = {
  http: (server, fields) => sendOverHttp(server, JSON.stringify(fields)),
  ws: (server, fields) =>
    sendOverWebSocket(server, JSON.stringify({ type: "response.create", ...fields })),
};

/** Short turns of one lane, one after another, until `work` is done. */
async function turnsBeside(lane, work) {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  const turns = [];
  while (!isDone) turns.push((await lane.turn()).totalMs);
  await done;
  return turns;
}

async function delayRows(server, lane) {
  const alone = [];
  for (let i = 0; i < numTurns; i++) alone.push((await lane.turn()).totalMs);
  const rows = [{ id: "short-turn/alone", unit: "ms", ours: summary(alone) }];
  for (const [kind, input] of Object.entries(hugeInputs())) {
    for (const [transport, send] of Object.entries(SENDERS)) {
      const fields = { model: server.modelId, input, store: false };
      const delays = [];
      const turns = [];
      await send(server, fields); // starts the threads
      for (let round = 0; round < rounds; round++) {
        await server.reset();
        turns.push(...(await turnsBeside(lane, send(server, fields))));
        delays.push(await server.read());
      }
      const of = `${flags.megabytes}mb-${kind}/${transport}`;
      for (const name of ["p50", "p99", "max"]) {
        const ours = summary(delays.map((delay) => delay[name]));
        rows.push({ id: `loop-delay/${name}/${of}`, unit: "ms", ours });
      }
      rows.push({ id: `short-turn/beside-${of}`, unit: "ms", ours: summary(turns) });
    }
  }
  return rows;
}

async function firstTokens(lane) {
  const samples = [];
  for (let i = 0; i < numTurns; i++) samples.push((await lane.turn()).firstTextMs);
  return samples;
}

async function idleRows(server, lane) {
  const before = await server.read();
  const alone = await firstTokens(lane);
  const close = await openIdleSockets(server, numIdle);
  const beside = await firstTokens(lane);
  const after = await server.read();
  close();
  const perSocket = (name) => summary([(after[name] - before[name]) / numIdle]);
  return [
    { id: `socket-bytes/rss/${numIdle}`, unit: "bytes", ours: perSocket("rss") },
    { id: `socket-bytes/heap/${numIdle}`, unit: "bytes", ours: perSocket("heapUsed") },
    { id: "first-token/alone", unit: "ms", ours: summary(alone) },
    { id: `first-token/beside-${numIdle}-sockets`, unit: "ms", ours: summary(beside) },
    {
      id: "first-token/of-alone",
      unit: "x of 1",
      ours: summary([median(beside) / median(alone)]),
    },
  ];
}

const run = describeRun("gateway");
const server = await BenchServer.start(["--max-connections", String(numIdle + 10)]);
const lane = await ActiveLane.open(server);
await lane.turn();
const idle = await idleRows(server, lane);
const rows = [...idle, ...(await delayRows(server, lane))];
lane.close();
await server.stop();

const { load, cores } = run.machine;
const disturbed = load[0] > cores / 2;
const all = rows.map((row) => ({ ...judged(row, TARGETS[row.id]), disturbed }));
printRows(all);
const isa = loadAddon().probeDevices()[0].isaLevels.at(-1);
console.log(writeResults(run, { isa, rows: all }));
