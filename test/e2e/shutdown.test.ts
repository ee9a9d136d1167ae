/**
 * Ways in which an environment with a streaming engine ends, each in a child process: none may crash,
 * hang or change the exit code.
 */
import { spawn } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";
import { TINY_MODEL } from "../fixture-models.ts";

const CHILD = path.join(import.meta.dirname, "shutdown-child.mjs");

interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  readonly output: string;
}

function runChild(scenario: string): Promise<Ending> {
  const child = spawn(process.execPath, ["--expose-gc", CHILD, scenario, TINY_MODEL], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, output }));
  });
}

test.each([
  ["worker: terminate", 0, "worker exit: 1"],
  // 1, or 0 when the load ends (and with it the worker) before the termination arrives.
  ["worker: terminate while opening", 0, "worker exit: "],
  ["worker: throw", 0, "worker error: thrown while the engine streams"],
  ["worker: exit", 0, "worker exit: 0"],
  ["worker: close", 0, "worker exit: 0"],
  ["main: exit 0", 0, ""],
  ["main: exit 7", 7, ""],
  ["main: throw", 1, "thrown while the engine streams"],
  ["main: close", 0, "stream ended: ERR_ENGINE_CLOSED"],
  ["main: forget the engine", 0, ""],
])("%s: the process ends with %i", async (scenario, code, output) => {
  const ending = await runChild(scenario);
  expect(ending).toMatchObject({ code, signal: null });
  expect(ending.output).toContain(output);
});
