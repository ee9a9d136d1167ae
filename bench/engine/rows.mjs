/** How each kind of row of plan.mjs is measured and what of it goes into the result file. */
import { loadavg } from "node:os";
import { rounded, spread, summary } from "../results.mjs";
import { measureRounds } from "./lanes.mjs";

const INT8 = "int8";

const median = (samples) => spread(samples).median;

/** CPU time over wall time: what is missing to the number of threads is what an engine does alone. */
const coresUsed = (rounds, lane) =>
  median(rounds.map((round) => round[lane].cpuMs / round[lane].wallMs));

/** Tokens a second. The CPU clock counts the engine's own time as if it had its threads alone. */
function rateOf({ wallMs, cpuMs }, { ratedTokens, open: { threads } }, clock) {
  return (1000 * ratedTokens) / (clock === "cpu" ? cpuMs / threads : wallMs);
}

function assertSameWork(round) {
  const [first, ...others] = Object.entries(round);
  for (const [name, { result }] of others) {
    if (result !== first[1].result) {
      throw new Error(`${first[0]} made ${first[1].result} tokens, ${name} ${result}`);
    }
  }
}

function rateRow(id, lane, { plan, rounds, isDisturbed, load, clock }) {
  const rates = rounds.map((round) => [
    rateOf(round[lane], plan, clock),
    rateOf(round.peer, plan, clock),
  ]);
  return {
    id,
    unit: "tok/s",
    ours: summary(rates.map(([ours]) => ours)),
    peer: summary(rates.map(([, peer]) => peer)),
    ratio: spread(rates.map(([ours, peer]) => ours / peer)),
    disturbed: isDisturbed,
    coresUsed: { ours: coresUsed(rounds, lane), peer: coresUsed(rounds, "peer") },
    load,
  };
}

/** Tokens a second of both engines on the same work; with int8, a second row for it. */
async function measureRate(plan, { lanes, pace, clock }) {
  const load = rounded(loadavg()[0]);
  const names = plan.hasInt8 && pace.withInt8(plan) ? ["ours", "peer", INT8] : ["ours", "peer"];
  const opened = await lanes.open(names, plan.open, plan.kept);
  const { threads } = plan.open;
  const warmUp = pace.isQuick ? plan.shortRun : plan.run;
  for (const [, engine] of opened) await engine.measure(warmUp, threads);
  const measured = await measureRounds(opened, pace, (engine) => engine.measure(plan.run, threads));
  measured.rounds.forEach(assertSameWork);
  const facts = { plan, ...measured, load, clock };
  const rows = [rateRow(plan.id, "ours", facts)];
  if (names.includes(INT8)) rows.push(rateRow(`${plan.id}/int8`, INT8, facts));
  return rows;
}

const MEASURES = { rate: measureRate };

/** Rows of the result file that belong to one row of the plan, not judged yet. */
export function measureRow(plan, bench) {
  return MEASURES[plan.kind](plan, bench);
}
