/** Kind `cli` of the cases: the command itself, from its start to its exit code. */
import { type Command, makeMemoryGroup } from "../../memory-limit.ts";
import { expand } from "../runner/values.mjs";
import { type DownloadCase, startFromFailingOrigin } from "./failing-origin.ts";
import { type KeyCase, sendKeys } from "./key-traffic.ts";
import { type SignalCase, signalMidStream } from "./signal-mid-stream.ts";
import { runUntilReady } from "./started-command.ts";

interface Variant {
  readonly cmd: Command;
  readonly cgroup?: { readonly "memory.max": string };
  readonly rlimit?: { readonly memlock: number };
}

interface VariantsCase {
  readonly variants: readonly Variant[];
}

type CliCase = VariantsCase | DownloadCase | SignalCase | KeyCase;

const MIB = 2 ** 20;

export async function cliHook(
  input: CliCase,
  { vars }: { readonly vars: { readonly KEY1: string } },
): Promise<object> {
  const wish = expand(input, { vars }) as CliCase;
  if ("variants" in wish) return await runVariants(wish);
  if ("origin" in wish) return await startFromFailingOrigin(wish);
  if ("signals" in wish) return await signalMidStream(wish);
  return await sendKeys(wish, vars.KEY1);
}

/** Under options and limits that cannot be. */
async function runVariants({ variants }: VariantsCase): Promise<object> {
  const results: Record<string, object> = {};
  for (const [k, variant] of variants.entries()) {
    const result = await runVariant(variant);
    if (result === undefined) return { skip: "no control group can be made here" };
    results[`v${k}`] = result;
  }
  return results;
}

/** Undefined where its limit cannot be set. */
async function runVariant({ cmd, cgroup, rlimit }: Variant): Promise<object | undefined> {
  if (rlimit !== undefined) {
    return await runUntilReady(["prlimit", `--memlock=${rlimit.memlock}`, ...cmd]);
  }
  if (cgroup === undefined) return await runUntilReady(cmd);
  const group = makeMemoryGroup(parseSize(cgroup["memory.max"]));
  if (group === undefined) return undefined;
  using _ = group;
  return await runUntilReady(group.limit(cmd));
}

/** "96M", "1G" */
function parseSize(text: string): number {
  const [, count, unit] = /^(\d+)([MG])$/.exec(text) ?? [];
  if (count === undefined) throw new Error(`unknown size ${text}`);
  return Number(count) * (unit === "G" ? 1024 * MIB : MIB);
}
