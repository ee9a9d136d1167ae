/** From a row of plan.mjs to rows of the result file, without targets. */
import { loadavg } from "node:os";
import { rounded } from "../../results.mjs";
import { measureBusyCore } from "./busy-core.mjs";
import { measureTokenGaps } from "./gaps.mjs";
import { measureRate } from "./rate.mjs";
import { measureSharedPrefix } from "./shared-prefix.mjs";
import { measureStart } from "./start.mjs";
import { measureVerify } from "./verify.mjs";
import { measureWeights } from "./weights.mjs";

const MEASURES = {
  rate: measureRate,
  verify: measureVerify,
  "shared-prefix": measureSharedPrefix,
  start: measureStart,
  weights: measureWeights,
  "busy-core": measureBusyCore,
  gaps: measureTokenGaps,
};

/** `bench`: {lanes, pace, clock}. `load` in a row is the machine's as the row found it. */
export async function measureRow(plan, bench) {
  const load = rounded(loadavg()[0]);
  const rows = await MEASURES[plan.kind](plan, bench);
  return rows.map((row) => ({ ...row, load }));
}
