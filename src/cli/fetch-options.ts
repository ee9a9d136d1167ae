/** How commands fetch a model: progress on stderr, licence terms asked for where a person can answer. */
import { createInterface } from "node:readline/promises";
import { setTimeout } from "node:timers/promises";
import type { Config } from "../config/load-config.ts";
import type { FetchOptions } from "../models/fetch-model.ts";
import { createProgress } from "../models/progress.ts";

export function fetchOptions({ model }: Config): FetchOptions {
  const { modelsDir, hubUrl, hubToken, acceptedLicenses } = model;
  const canAsk = process.stdin.isTTY && process.stderr.isTTY;
  return {
    modelsDir,
    hubUrl,
    hubToken,
    acceptedLicenses,
    progress: createProgress(process.stderr),
    wait: setTimeout,
    ...(canAsk && { confirm }),
  };
}

async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
