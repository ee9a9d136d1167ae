/**
 * The three tasks: what the user asks, and the result that answers each turn of the model. Which tool ran
 * on what is scripted, since a small model does not solve the task; it writes a fixed number of tokens a
 * turn. Results come as messages of the user, as agents send them whose model writes its calls as text.
 * A task of n turns has n - 1 results.
 */
import { resultLengths, resultText } from "./result-texts.mjs";
import { TOOLS } from "./tools.mjs";

const INSTRUCTIONS = `You are a coding agent that works in the repository of a parcel service written in TypeScript. You have tools to list, read, search and change its files and to run its tests.

Work in small steps. Look before you change: read the file that you are about to patch, and the tests that cover it. Say in one sentence what you are going to do before you call a tool, and call one tool at a time. Keep to the style of the code around a change, and do not change what you were not asked to change. After each change run the tests that cover it, and all tests at the end. If a patch does not apply, read the file again. When everything passes, answer with a short summary of what was wrong or missing, what you changed, and which tests show that it works.`;

const FIX_TEST = {
  name: "fix-test-10",
  request:
    "The test 'an overweight parcel costs one step more' in test/tariff.test.ts fails since yesterday. Find out why and fix the code, not the test.",
  maxResultChars: 4000,
  calls: [
    ["run_tests", "tariff"],
    ["read_file", "test/tariff.test.ts"],
    ["search", "weightStep in src/tariff"],
    ["read_file", "src/tariff/weight-step.ts"],
    ["apply_patch", "src/tariff/weight-step.ts"],
    ["run_tests", "tariff"],
    ["search", "weightStep in src"],
    ["run_tests", "all"],
    ["run_command", "git diff --stat"],
  ],
};

const ADD_SEARCH = {
  name: "add-search-20",
  request:
    "Add a search to the parcel list: GET /parcels?query=TEXT answers the parcels whose label or receiver contains the text, upper and lower case alike, newest first, at most 50. Cover it with tests and mention it in docs/api.md.",
  maxResultChars: 2200,
  calls: [
    ["list_files", "src"],
    ["search", "GET /parcels in src"],
    ["read_file", "src/api/parcels.ts"],
    ["read_file", "src/parcel/parcel-store.ts"],
    ["read_file", "test/api/parcels.test.ts"],
    ["search", "toLowerCase in src"],
    ["apply_patch", "src/parcel/parcel-store.ts"],
    ["run_tests", "parcel-store"],
    ["apply_patch", "src/api/parcels.ts"],
    ["run_tests", "api/parcels"],
    ["read_file", "test/helpers/make-parcel.ts"],
    ["apply_patch", "test/api/parcels.test.ts"],
    ["run_tests", "api/parcels"],
    ["search", "receiver in src/parcel"],
    ["apply_patch", "src/parcel/parcel-text.ts"],
    ["read_file", "docs/api.md"],
    ["apply_patch", "docs/api.md"],
    ["run_command", "npx tsc --noEmit"],
    ["run_tests", "all"],
  ],
};

const RESOURCES = [
  "parcel",
  "route",
  "depot",
  "driver",
  "tariff",
  "window",
  "label",
  "claim",
  "scan",
];

const REFACTOR_API = {
  name: "refactor-40",
  request:
    "The handlers in src/api each open the database themselves. Refactor them, one resource after the other, so that they get their store from the request's context, and keep all tests green.",
  maxResultChars: 560,
  calls: [
    ["list_files", "src/api"],
    ["read_file", "src/api/context.ts"],
    ...RESOURCES.flatMap((name) => [
      ["search", `open ${name} in src/api`],
      ["read_file", `src/api/${name}s.ts`],
      ["apply_patch", `src/api/${name}s.ts`],
      ["run_tests", `api/${name}s`],
    ]),
    ["run_tests", "all"],
  ],
};

function scripted({ name, request, maxResultChars, calls }) {
  const tools = calls.map(([tool]) => tool);
  const lengths = resultLengths(tools, maxResultChars);
  const results = calls.map(
    ([tool, subject], index) => `[${tool}: ${subject}]\n${resultText(tool, lengths[index], index)}`,
  );
  return { name, instructions: INSTRUCTIONS, tools: TOOLS, request, results };
}

export const TASKS = [FIX_TEST, ADD_SEARCH, REFACTOR_API].map(scripted);

/** Its beginning, with few tools and short texts: for tests. */
export function shortened(task, { numTurns, numTools, maxChars }) {
  const shorten = (text) => text.slice(0, maxChars);
  const instructions = shorten(task.instructions);
  const results = task.results.slice(0, numTurns - 1).map(shorten);
  const tools = task.tools.slice(0, numTools);
  return { name: `short-${task.name}`, instructions, tools, request: task.request, results };
}
