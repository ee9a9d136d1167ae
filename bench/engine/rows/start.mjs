/**
 * From the start of a process to its first token, with the model file in the page cache: ours as a
 * share of the peer's, and the milliseconds of both.
 */
import { summary } from "../../results.mjs";
import { EngineProcess, measureRounds } from "../lanes.mjs";

async function startOnce(kind, modelPath, { open, run }) {
  const start = performance.now();
  const engine = new EngineProcess(kind, modelPath);
  await engine.ask({ open });
  await engine.ask({ run });
  const ms = performance.now() - start;
  await engine.end();
  return { ms };
}

export async function measureStart(plan, { lanes, pace }) {
  const kinds = [
    ["ours", "warmloop"],
    ["peer", "peer"],
  ];
  const measure = (kind) => startOnce(kind, lanes.modelPath, plan);
  for (const [, kind] of kinds) await measure(kind);
  const { rounds, isDisturbed } = await measureRounds(kinds, pace, measure);
  return [
    {
      id: plan.id,
      unit: "x of 1",
      ours: summary(rounds.map(({ ours, peer }) => ours.ms / peer.ms)),
      disturbed: isDisturbed,
      ms: {
        ours: summary(rounds.map(({ ours }) => ours.ms)),
        peer: summary(rounds.map(({ peer }) => peer.ms)),
      },
    },
  ];
}
