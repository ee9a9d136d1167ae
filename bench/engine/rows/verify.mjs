/** What a pass over several tokens, with the logits of all of them, takes of a pass over one. */
import { summary } from "../../results.mjs";
import { measureRounds } from "../lanes.mjs";

export async function measureVerify(plan, { lanes, pace }) {
  const { id, token, width, passes } = plan;
  const { threads } = plan.open;
  const opened = await lanes.open(["ours", "peer"], plan.open, plan.kept);
  const take = (engine, tokens) =>
    engine.measure({ method: "verify", token, width: tokens, passes }, threads);
  const compare = async (engine) => {
    const [one, many] = [await take(engine, 1), await take(engine, width)];
    return {
      cost: many.wallMs / one.wallMs,
      isDisturbed: one.isDisturbed || many.isDisturbed,
    };
  };
  for (const [, engine] of opened) await compare(engine);
  const { rounds, isDisturbed } = await measureRounds(opened, pace, compare);
  return [
    {
      id,
      unit: "x of 1",
      ours: summary(rounds.map(({ ours }) => ours.cost)),
      peer: summary(rounds.map(({ peer }) => peer.cost)),
      disturbed: isDisturbed,
    },
  ];
}
