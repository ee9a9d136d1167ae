// Whether a case can be understood: an unknown key or operator is an error, as it has shown nothing.
import { knownOperator } from "./expect.mjs";
import { METHODS } from "./http-steps.mjs";
import { fail, valueOperator } from "./values.mjs";

/** Kinds of cases that an adapter runs. */
export const HOOK_KINDS = ["file", "cli", "client", "engine"];
const INPUT_KEYS = { http: ["server", "steps"], ws: ["server", "send", "until"] };
const SERVER_KEYS = ["flags", "script", "script_no_eos"];
const STEP_KEYS = [
  ...METHODS,
  ...["id", "server", "body", "raw", "raw_hex", "headers", "times", "parallel"],
  ...["abort_after", "delay_ms", "timeout_s", "meanwhile", "collect_gaps", "metrics"],
];

/**
 * Looks at the whole case before anything runs, so that a skipped case too is known to be readable.
 * @throws {CaseError}
 */
export function assertReadable({ kind, input, expect }, extraOperators) {
  assertOperators(expect, extraOperators);
  if (HOOK_KINDS.includes(kind)) return;
  assertKeys(input, INPUT_KEYS[kind] ?? fail(`unknown kind ${kind}`), "input");
  assertKeys(input.server, SERVER_KEYS, "server");
  for (const { $after, ...frame } of input.send ?? []) assertValues([$after ?? null, frame]);
  for (const step of input.steps ?? []) assertStep(step);
}

function assertStep(step) {
  assertKeys(step, STEP_KEYS, "step");
  assertKeys(step.server, SERVER_KEYS, "server");
  if (METHODS.filter((key) => step[key] !== undefined).length !== 1) {
    fail(`step ${step.id} needs one of ${METHODS.join(", ")}`);
  }
  assertValues([step.body, step.raw, step.headers]);
}

function assertKeys(object, known, what) {
  for (const key of Object.keys(object ?? {})) {
    if (!known.includes(key)) fail(`unknown ${what} key ${key}`);
  }
}

function assertValues(value) {
  if (value === null || typeof value !== "object") return;
  if (!Array.isArray(value)) valueOperator(value);
  for (const inner of Object.values(value)) {
    const isSpread = Array.isArray(value) && inner?.$spread !== undefined;
    if (!isSpread) assertValues(inner);
  }
}

function assertOperators(expectations, extra) {
  for (const [, operator, want] of expectations) {
    if (!knownOperator(operator, extra)) fail(`unknown operator ${operator}`);
    if (operator === "any") for (const branch of want) assertOperators(branch, extra);
  }
}
