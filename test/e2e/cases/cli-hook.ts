/** Kind `cli` of the shared cases: the command itself, under options and limits that cannot be. */
import { makeMemoryGroup, type Command } from "../../memory-limit.ts";
import { CliProcess } from "../cli-process.ts";

interface Variant {
  readonly cmd: Command;
  readonly cgroup?: { readonly "memory.max": string };
  readonly rlimit?: { readonly memlock: number };
}

interface CliCase {
  readonly variants?: readonly Variant[];
}

const RUN = ["OP-05", "OP-14"];
const MIB = 2 ** 20;

export async function cliHook({ variants = [] }: CliCase, { id }: { readonly id: string }) {
  if (!RUN.includes(id))
    return { skip: "needs a mock origin or signals; see the tests beside this one" };
  const results: Record<string, object> = {};
  for (const [k, variant] of variants.entries()) {
    const result = await runVariant(variant);
    if (result === undefined) return { skip: "no control group can be made here" };
    results[`v${k}`] = result;
  }
  return results;
}

/** Until the command ends or is ready; undefined where its limit cannot be set. */
async function runVariant({ cmd, cgroup, rlimit }: Variant): Promise<object | undefined> {
  if (rlimit !== undefined) return await run(["prlimit", `--memlock=${rlimit.memlock}`, ...cmd]);
  if (cgroup === undefined) return await run(cmd);
  const group = makeMemoryGroup(parseSize(cgroup["memory.max"]));
  if (group === undefined) return undefined;
  using _ = group;
  return await run(group.limit(cmd));
}

async function run(command: Command): Promise<object> {
  const started = performance.now();
  await using cli = new CliProcess([], { command });
  const ready = await cli.waitFor(/^warmloop ready/m).then(
    () => true,
    () => false,
  );
  if (ready) cli.child.kill("SIGTERM"); // npm passes it on, and ends after the server
  const { exitCode, stderr } = await cli.result();
  return { ready, exit: exitCode, stderr, ms: performance.now() - started };
}

/** "96M", "1G" */
function parseSize(text: string): number {
  const [, count, unit] = /^(\d+)([MG])$/.exec(text) ?? [];
  if (count === undefined) throw new Error(`unknown size ${text}`);
  return Number(count) * (unit === "G" ? 1024 * MIB : MIB);
}
