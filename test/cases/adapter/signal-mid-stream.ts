/** SIGTERM to npm in the middle of a long stream: how the stream, npm and the server behind it end. */
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { CliProcess, type StartedServer, whenReady } from "../../e2e/cli-process.ts";
import type { Command } from "../../memory-limit.ts";

export interface SignalCase {
  readonly cmd: Command;
  readonly signals: readonly object[];
  readonly drain_s: number;
}

const MAX_TOKENS = 2000;

export async function signalMidStream({ cmd, drain_s }: SignalCase): Promise<object> {
  const npm = new CliProcess(["--drain-seconds", String(drain_s)], { command: cmd });
  await using server = await whenReady(npm);
  const family = descendantsOf(npm.child.pid);
  const exited = once(npm.child, "exit");
  let signalledAt = 0;
  const lastEvent = await streamLongAnswer(server, () => {
    signalledAt = performance.now();
    npm.child.kill("SIGTERM");
  });
  const [exit] = await exited;
  const ms = performance.now() - signalledAt;
  const orphans = family.filter((pid) => existsSync(`/proc/${pid}`)).length;
  return { stream: { last_event: lastEvent }, exit, ms_after_signal: ms, orphans };
}

/** Calls back once, with the first delta. Returns the type of the last event. */
async function streamLongAnswer(
  { url, modelId: model }: StartedServer,
  onFirstDelta: () => void,
): Promise<string | undefined> {
  const body = { model, input: "Count from 1 to 500.", max_output_tokens: MAX_TOKENS };
  const response = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, temperature: 0, stream: true }),
  });
  let text = "";
  let hasDelta = false;
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (hasDelta || !text.includes("event: response.output_text.delta")) continue;
    hasDelta = true;
    onFirstDelta();
  }
  return [...text.matchAll(/^event: (\S+)$/gm)].at(-1)?.[1];
}

/** Ids of the processes that a process started, and of those that they did. */
function descendantsOf(pid: number | undefined): number[] {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const children = all.map(Number).filter((candidate) => parentOf(candidate) === pid);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

function parentOf(pid: number): number | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(file, "utf8"))?.[1]);
}
