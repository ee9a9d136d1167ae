/** By how much a process grows when it loads a model, as a share of the file. */
import { statSync } from "node:fs";
import { summary } from "../../results.mjs";
import { EngineProcess } from "../lanes.mjs";

export async function measureWeights(plan, { lanes }) {
  const engine = new EngineProcess("warmloop", lanes.modelPath);
  const { rssBytes } = await engine.ask({ open: plan.open });
  await engine.end();
  const share = rssBytes / statSync(lanes.modelPath).size;
  return [{ id: plan.id, unit: "x of 1", ours: summary([share]), disturbed: false }];
}
