/**
 * `npm run bench:engine [-- --quick --only PREFIX ...]`: our engine beside the peer on the same files,
 * in one run. See bench/README.md.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { loadAddon } from "../../dist/native/load-addon.js";
import { describeRun, GrowingResults, judged, machineKind } from "../results.mjs";
import { Lanes } from "./lanes.mjs";
import { benchModels } from "./models.mjs";
import { installPeer, PEER } from "./peer-engine.mjs";
import { hasPrefix, planOf } from "./plan.mjs";
import { measureRow } from "./rows/measure-row.mjs";
import { printRows, progressLine } from "./table.mjs";
import { targetOf } from "./targets.mjs";

const THREADS = availableParallelism() > 1 ? "1,2" : "1";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    model: { type: "string" },
    threads: { type: "string", default: THREADS },
    repetitions: { type: "string", default: "7" },
    seconds: { type: "string", default: "60" },
    clock: { type: "string", default: "wall" },
  },
});

/** How long a row may take: at most so many rounds or seconds, at least so many rounds. */
const pace = flags.quick
  ? { rounds: 3, minRounds: 1, seconds: 6 }
  : {
      rounds: Number(flags.repetitions),
      minRounds: Math.min(3, Number(flags.repetitions)),
      seconds: Number(flags.seconds),
    };
/** A quick run has int8 beside one stream of the default model on one thread only. */
const withInt8 = ({ id, hasInt8 }) =>
  hasInt8 && (!flags.quick || /^(prefill|decode)\/smollm2-\w+\/t1(\/s1)?$/.test(id));

const threadCounts = flags.threads.split(",").map(Number);
const isWanted = ({ id, isMain }) => hasPrefix(id, flags.only) && (isMain || !flags.quick);

const run = describeRun("engine");
const kind = machineKind();
installPeer();
const isa = loadAddon().probeDevices()[0].isaLevels.at(-1);
const results = new GrowingResults(run, { isa, peer: PEER });
const measured = [];
let isWhole = !flags.quick && !flags.only && !flags.model && flags.threads === THREADS;
let file;
for (const { name, locate } of benchModels(flags.model)) {
  const plans = planOf(name, threadCounts).filter(isWanted);
  if (plans.length === 0) continue;
  const modelPath = locate();
  if (modelPath === undefined) {
    isWhole = false;
    continue;
  }
  const lanes = new Lanes(modelPath);
  const bench = { lanes, pace, clock: flags.clock };
  for (const plan of plans) {
    for (const row of await measureRow({ ...plan, hasInt8: withInt8(plan) }, bench)) {
      measured.push(judged(row, targetOf(row.id, kind)));
      file = results.put(measured.at(-1));
      process.stderr.write(`${progressLine(measured.at(-1))}\n`);
    }
  }
  await lanes.end();
}
if (isWhole) file = results.keepOnly(measured.map(({ id }) => id));
printRows(measured, { peer: PEER, kind });
if (file !== undefined) console.log(`\nwrote ${file}`);
