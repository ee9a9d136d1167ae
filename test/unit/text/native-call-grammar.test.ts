/** What the native engine lets a model write under the grammar of each family is what its parser reads. */
import { expect, test } from "vitest";
import { type CallGrammarOptions, callGrammar } from "../../../src/text/output/call-grammar.ts";
import { seededRandom } from "../../seeded-random.ts";
import { BLOCK_FORMATS } from "./parse-output.ts";
import { goldenModel, joinEvents } from "./text-fixtures.ts";

const MAX_TOKENS = 400;
const ROUNDS = 8;
const { tokenizer, createOutputDecoder } = goldenModel("qwen2");

/** Bounded, so that a random walk ends. */
const TOOLS = [
  {
    name: "weather",
    schema: {
      type: "object",
      properties: { unit: { enum: ["c", "f"] }, days: { type: "integer", minimum: 1, maximum: 9 } },
      required: ["days"],
      additionalProperties: false,
    },
  },
  {
    name: "note",
    schema: {
      type: "object",
      properties: { text: { type: "string", maxLength: 3 } },
      required: ["text"],
      additionalProperties: false,
    },
  },
];

function tokensIn(mask: Uint32Array): readonly number[] {
  const tokens: number[] = [];
  for (let token = 0; token < tokenizer.vocabSize; token++) {
    if (((mask[token >> 5] ?? 0) >>> (token & 31)) & 1) tokens.push(token);
  }
  return tokens;
}

/** Random tokens under the grammar's masks; undefined when the text does not end. */
function walk(spec: string, random: () => number): Int32Array | undefined {
  const matcher = tokenizer.compileGrammar(spec).matcher();
  const tokens: number[] = [];
  while (tokens.length < MAX_TOKENS) {
    const allowed = tokensIn(matcher.mask());
    if (matcher.isComplete() && (allowed.length === 0 || random() < 0.5))
      return Int32Array.from(tokens);
    const token = allowed[Math.floor(random() * allowed.length)];
    if (token === undefined || !matcher.accept(token)) throw new Error("a dead end");
    tokens.push(token);
  }
  return undefined;
}

function spell(tokens: Int32Array): string {
  return [...tokens].map((token) => tokenizer.tokenText(token)).join("");
}

test.each(BLOCK_FORMATS)("%s", (format) => {
  const random = seededRandom(3);
  const options: CallGrammarOptions = { format, tools: TOOLS, mode: "required", isParallel: true };
  const spec = JSON.stringify(callGrammar(options));
  const outputFormat = { calls: { format, tools: TOOLS.map(({ name }) => ({ name })) } };
  let numWhole = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const tokens = walk(spec, random);
    if (tokens === undefined) continue;
    numWhole++;
    const decoder = createOutputDecoder({ stop: [], format: outputFormat });
    const events = joinEvents([...decoder.push(tokens), ...decoder.finish()]);
    const types = events.map(({ type }) => type);
    const calls = types.filter((type) => type === "call_end").length;
    expect(calls, spell(tokens)).toBeGreaterThan(0);
    const one = ["call_start", "call_arguments", "call_end"];
    expect(types, spell(tokens)).toEqual(Array(calls).fill(one).flat());
    for (const event of events) {
      if (event.type === "call_arguments")
        expect(isValid(JSON.parse(event.delta)), event.delta).toBe(true);
    }
  }
  expect(numWhole).toBeGreaterThan(0);
});

test.each(["auto", "required"] as const)("every family's grammar compiles: %s", (mode) => {
  for (const format of [...BLOCK_FORMATS, "harmony"] as const) {
    for (const start of ["open", "closed"] as const) {
      const thinking = { format: "think", start } as const;
      const spec = callGrammar({ format, tools: TOOLS, mode, isParallel: true, thinking });
      expect(() => tokenizer.checkGrammar(JSON.stringify(spec)), format).not.toThrow();
    }
  }
});

function isValid(args: Readonly<Record<string, unknown>>): boolean {
  if ("text" in args) return typeof args.text === "string" && [...args.text].length <= 3;
  const { days, unit = "c" } = args;
  return (
    Number.isInteger(days) &&
    Number(days) > 0 &&
    Number(days) < 10 &&
    (unit === "c" || unit === "f")
  );
}
