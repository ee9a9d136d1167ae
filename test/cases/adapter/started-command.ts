/** A command of a case, until it is ready and is asked to end, or ends by itself. */
import { CliProcess, type SpawnOptions } from "../../e2e/cli-process.ts";
import type { Command } from "../../memory-limit.ts";

export interface CommandEnd {
  readonly ready: boolean;
  readonly exit: number | null;
  readonly stderr: string;
  readonly ms: number;
}

export async function runUntilReady(
  command: Command,
  env: NonNullable<SpawnOptions["env"]> = {},
): Promise<CommandEnd> {
  const started = performance.now();
  await using cli = new CliProcess([], { command, env });
  const ready = await cli.waitFor(/^warmloop ready/m).then(
    () => true,
    () => false,
  );
  if (ready) cli.child.kill("SIGTERM"); // npm passes it on, and ends after the server
  const { exitCode, stderr } = await cli.result();
  return { ready, exit: exitCode, stderr, ms: performance.now() - started };
}
