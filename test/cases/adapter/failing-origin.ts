/**
 * Two starts that fetch the default model: from an origin that cuts the first body at 40 % and serves
 * ranges, then, from the start again, from one that has one bit of the file wrong.
 */
import { readdirSync, rmSync } from "node:fs";
import path from "node:path";
import {
  DEFAULT_MODEL,
  flipOneBit,
  hubEnv,
  readDefaultModel,
  startDefaultModelHub,
} from "../../e2e/default-model-hub.ts";
import type { Command } from "../../memory-limit.ts";
import { runUntilReady } from "./started-command.ts";

export interface DownloadCase {
  readonly cmd: Command;
  readonly env: { readonly WARMLOOP_MODELS_DIR: string };
  /** In words, which `startFromFailingOrigin` puts into effect. */
  readonly origin: object;
}

const CUT_AT = 0.4;

export async function startFromFailingOrigin({ cmd, env }: DownloadCase): Promise<object> {
  const modelsDir = env.WARMLOOP_MODELS_DIR;
  const body = await readDefaultModel();
  await using cutting = await startDefaultModelHub(body, { cutsAt: [CUT_AT] });
  const run1 = await runUntilReady(cmd, hubEnv(cutting, modelsDir));
  for (const entry of readdirSync(modelsDir))
    rmSync(path.join(modelsDir, entry), { recursive: true });
  const sends = { [DEFAULT_MODEL.file]: flipOneBit(body) };
  await using flipping = await startDefaultModelHub(body, { sends });
  const run2 = await runUntilReady(cmd, hubEnv(flipping, modelsDir));
  const requests = cutting.ranges.map((range) => ({ headers: { range } }));
  return {
    run1,
    run2,
    origin: { requests },
    files: { final: filesNamed(DEFAULT_MODEL.file, modelsDir) },
  };
}

function filesNamed(name: string, folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return all.filter((file) => path.basename(file) === name);
}
