/**
 * What makes a turn cost its new tokens only does not change what is said: the beginnings of the
 * benchmark's agent tasks, with each of these switched off in turn, give the same tokens with the same
 * log probabilities. `npm run bench:loop -- --check-switches` does so with the whole tasks.
 */
import { beforeAll, expect, test } from "vitest";
import { outputsOn, SWITCHES } from "../../bench/loop/switches.mjs";
import { shortened, TASKS } from "../../bench/loop/tasks.mjs";
import { startServer } from "./cli-process.ts";

const NUM_TURNS = 3;
const NUM_OUTPUT_TOKENS = 8;
const tasks = TASKS.map((task) =>
  shortened(task, { numTurns: NUM_TURNS, numTools: 1, maxChars: 200 }),
);

async function outputsWith(flags: readonly string[]) {
  // One thread: two of them wait for each other where other tests run beside this one.
  const always = ["--store-dir", "none", "--threads", "1"];
  await using server = await startServer([...always, ...flags]);
  return await outputsOn(server, tasks, {
    model: server.modelId,
    temperature: 0,
    max_output_tokens: NUM_OUTPUT_TOKENS,
    tool_choice: "none",
  });
}

let reference: Awaited<ReturnType<typeof outputsWith>>;

beforeAll(async () => {
  reference = await outputsWith([]);
});

test("every turn of every task says something", () => {
  const lengths = reference.flat().map(({ length }) => length);
  expect(lengths).toHaveLength(TASKS.length * NUM_TURNS);
  expect(Math.min(...lengths)).toBeGreaterThan(0);
});

test.each(Object.entries(SWITCHES))("without %s the tokens are the same", async (_, flags) => {
  expect(await outputsWith(flags)).toEqual(reference);
});
