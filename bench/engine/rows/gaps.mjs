/**
 * Long prompts and short chats at once: the time between two tokens of a chat, and the engine steps
 * (a token in each step is 1).
 */
import { quantile, summary } from "../../results.mjs";
import { measureRounds } from "../lanes.mjs";

const PERCENTILES = [50, 99];

export async function measureTokenGaps(plan, { lanes, pace }) {
  const opened = await lanes.open(["ours"], plan.open);
  const { rounds, isDisturbed } = await measureRounds(opened, pace, (engine) =>
    engine.measure(plan.run, plan.open.threads),
  );
  const row = (name, unit, percentile, gapsOf) => ({
    id: `${plan.id}/${name}`,
    unit,
    ours: summary(rounds.map(({ ours }) => quantile(gapsOf(ours.result), percentile / 100))),
    disturbed: isDisturbed,
  });
  return PERCENTILES.flatMap((percentile) => [
    row(`p${percentile}`, "ms", percentile, ({ ms }) => ms),
    row(`p${percentile}-steps`, "steps", percentile, ({ steps }) => steps),
  ]);
}
