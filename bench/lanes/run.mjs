/**
 * `npm run bench:lanes [-- --only PREFIX --delta-render check]`: the recorded agent sessions of
 * WARMLOOP_TEST_DATA through lanes of a tiny model with a long context. What each turn costs in bytes,
 * tokens and gateway time, beyond what is new in it. See bench/README.md.
 */
import { parseArgs } from "node:util";
import { loadAddon } from "../../dist/native/load-addon.js";
import { BenchServer } from "../gateway/server.mjs";
import { locateDefaultModel } from "../engine/models.mjs";
import { describeRun, printTable, summary, writeResults } from "../results.mjs";
import { longContextModel } from "./long-context-model.mjs";
import { writePlot } from "./plot.mjs";
import { replay } from "./replay.mjs";
import { readTranscripts } from "./transcripts.mjs";

const { values: flags } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    "delta-render": { type: "string", default: "on" },
    verbose: { type: "boolean", default: false },
  },
});
const testData = process.env.WARMLOOP_TEST_DATA;
if (testData === undefined) {
  console.error("skipped: WARMLOOP_TEST_DATA names no folder of recorded sessions");
  process.exit(0);
}

/** Tokens of context: a turn belongs to the last bound that it reaches. */
const CONTEXT_BOUNDS = [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000];

const model = longContextModel(locateDefaultModel());
const [answerId] = loadAddon().openTokenizer(model).encode("Yes", "text", false);
const server = await BenchServer.start([
  ...["--model", model, "--ctx", "262144"],
  ...["--delta-render", flags["delta-render"]],
]);
const run = describeRun("lanes");
const sessions = [];
for (const transcript of readTranscripts(testData)) {
  if (!transcript.id.startsWith(flags.only)) continue;
  const session = await replay(server, transcript, answerId);
  sessions.push(session);
  const { context } = session.turns.at(-1);
  console.log(`${transcript.id}: ${session.turns.length} turns, ${context} tokens`);
  if (flags.verbose) {
    const { turns, fork, lateFork, reconnect } = session;
    console.table([...turns, fork, lateFork, reconnect]);
  }
}
await server.stop();

const later = sessions.flatMap(({ turns }) => turns.slice(1));
const ofKind = {
  turn: later,
  fork: sessions.map(({ fork }) => fork),
  "late-fork": sessions.map(({ lateFork }) => lateFork),
  reconnect: sessions.map(({ reconnect }) => reconnect),
};
const COSTS = ["rendered", "tokenized", "hashed", "prefilled"];
const costRows = Object.entries(ofKind).flatMap(([kind, turns]) =>
  COSTS.map((cost) => ({
    id: `lanes/${kind}/${cost}-beyond-new`,
    unit: "tokens",
    ours: summary(turns.map((turn) => turn[cost])),
  })),
);
const rows = [
  {
    id: "lanes/turn/envelope",
    unit: "bytes",
    ours: summary(later.map((turn) => turn.envelopeBytes)),
  },
  ...costRows,
  ...gatewayRows("submit", "submitMs"),
  ...gatewayRows("delivery", "deliveryMs"),
].map((row) => ({ ...row, disturbed: false }));

function gatewayRows(name, field) {
  return CONTEXT_BOUNDS.flatMap((bound, index) => {
    const next = CONTEXT_BOUNDS[index + 1] ?? Number.POSITIVE_INFINITY;
    const times = later
      .filter(({ context }) => context >= bound && context < next)
      .map((turn) => turn[field]);
    return times.length === 0
      ? []
      : [{ id: `gateway/${name}/${bound}`, unit: "ms", ours: summary(times) }];
  });
}
printTable(
  ["row", "unit", "median", "min", "max", "n"],
  rows.map(({ id, unit, ours }) => [id, unit, ours.median, ours.min, ours.max, ours.n]),
);
const reasons = later.flatMap(({ missReason }) => missReason ?? []);
for (const reason of new Set(reasons)) {
  console.log(`${reason}: ${reasons.filter((one) => one === reason).length} turns`);
}
if (flags.only === "") {
  writeResults(run, { rows });
  writePlot(rows);
}
