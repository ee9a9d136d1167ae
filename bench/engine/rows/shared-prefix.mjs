/** How many tokens are computed for prompts that arrive together and share most of their tokens. */
import { summary } from "../../results.mjs";

export async function measureSharedPrefix(plan, { lanes }) {
  const [[, engine]] = await lanes.open(["ours"], plan.open);
  const { result } = await engine.measure(plan.run, plan.open.threads);
  return [{ id: plan.id, unit: "tokens", ours: summary([result]), disturbed: false }];
}
