/** Tokens a second of both engines on the same work; with int8 activations, a second row. */
import { spread, summary } from "../../results.mjs";
import { measureRounds } from "../lanes.mjs";

const INT8 = "int8";

/** CPU time over wall time: what is missing to the number of threads is what an engine does alone. */
const coresUsed = (rounds, lane) =>
  spread(rounds.map((round) => round[lane].cpuMs / round[lane].wallMs)).median;

/** Tokens a second. The CPU clock counts the engine's own time as if it had its threads alone. */
function rateOf({ wallMs, cpuMs }, { ratedTokens, open: { threads } }, clock) {
  return (1000 * ratedTokens) / (clock === "cpu" ? cpuMs / threads : wallMs);
}

function assertSameWork(round) {
  const [[firstName, first], ...others] = Object.entries(round);
  for (const [name, { result }] of others) {
    if (result === first.result) continue;
    throw new Error(`${firstName} made ${first.result} tokens, ${name} ${result}`);
  }
}

function rateRow(id, lane, { plan, rounds, isDisturbed, clock }) {
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
  };
}

export async function measureRate(plan, { lanes, pace, clock }) {
  const names = ["ours", "peer", ...(plan.hasInt8 ? [INT8] : [])];
  const opened = await lanes.open(names, plan.open, plan.kept);
  const { threads } = plan.open;
  for (const [, engine] of opened) await engine.measure(plan.warmUp, threads);
  const measured = await measureRounds(opened, pace, (engine) => engine.measure(plan.run, threads));
  measured.rounds.forEach(assertSameWork);
  const facts = { plan, ...measured, clock };
  const rows = [rateRow(plan.id, "ours", facts)];
  if (plan.hasInt8) rows.push(rateRow(`${plan.id}/int8`, INT8, facts));
  return rows;
}
