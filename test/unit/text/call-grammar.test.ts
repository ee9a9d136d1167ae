import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import {
  type CallGrammarOptions,
  callGrammar,
  type GrammarTool,
} from "../../../src/text/output/call-grammar.ts";
import type { GrammarSpec } from "../../../src/text/output/grammar-spec.ts";
import type {
  OutputFormat,
  ThinkingStart,
  ToolFormat,
} from "../../../src/text/output/output-format.ts";
import { answerGrammar } from "../../../src/text/output/thinking-grammar.ts";
import { textParameters } from "../../../src/text/output/tool-parameters.ts";
import { seededRandom } from "../../seeded-random.ts";
import { realTools } from "../../tools/real-tools.ts";
import { BLOCK_FORMATS, parseOutput, text } from "./parse-output.ts";
import { SpecTexts } from "./spec-texts.ts";

const FORMATS: readonly ToolFormat[] = [...BLOCK_FORMATS, "harmony"];

const TOOLS: readonly GrammarTool[] = [
  {
    name: "weather",
    schema: {
      type: "object",
      properties: {
        city: { type: "string" },
        unit: { enum: ["c", "f"] },
        days: { type: "integer", minimum: 1, maximum: 9 },
        where: { $ref: "#/$defs/place" },
      },
      required: ["days"],
      $defs: { place: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
    },
  },
  { name: "now", schema: { type: "object", properties: {} } },
  {
    name: "note",
    schema: {
      type: "object",
      properties: { text: { type: "string", minLength: 2, maxLength: 4 }, tags: { type: "array" } },
      required: ["text"],
    },
  },
  { name: "patch", input: { literal: 'a "b"\n</parameter>' } },
];

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

interface ParsedCall {
  readonly name: string;
  readonly args: string;
}

interface Parsed {
  readonly calls: readonly ParsedCall[];
  readonly text: string;
  readonly thinking: string;
  readonly isWhole: boolean;
}

function parse(output: string, format: OutputFormat): Parsed {
  const calls: ParsedCall[] = [];
  let numEnds = 0;
  const texts = { text: "", reasoning: "" };
  for (const event of parseOutput(output, format)) {
    if (event.type === "call_start") calls.push({ name: event.name, args: "" });
    else if (event.type === "call_end") numEnds++;
    else if (event.type === "call_arguments") {
      const last = calls.pop();
      if (last) calls.push({ ...last, args: last.args + event.delta });
    } else if (event.type !== "call_cut") texts[event.type] += event.delta;
  }
  const isWhole = numEnds === calls.length;
  return { calls, text: texts.text, thinking: texts.reasoning, isWhole };
}

function outputFormatOf({ format, tools, thinking }: CallGrammarOptions): OutputFormat {
  const offered = tools.map(({ name, schema, input }) => ({
    name,
    textParameters: input ? ["input"] : textParameters(schema),
  }));
  return { calls: { format, tools: offered }, ...(thinking && { thinking }) };
}

function checkArguments({ name, args }: ParsedCall, tools: readonly GrammarTool[]): void {
  const tool = tools.find((candidate) => candidate.name === name);
  const value: unknown = JSON.parse(args);
  if (tool?.input) expect(value).toEqual({ input: 'a "b"\n</parameter>' });
  else expect(ajv.validate(tool?.schema ?? {}, value), `${name} ${args}`).toBe(true);
}

describe("what the grammar derives is what the parser reads", () => {
  test.each(FORMATS)("%s: required calls", (format) => {
    const random = seededRandom(5);
    const texts = new SpecTexts(random);
    for (const isParallel of [false, true]) {
      const options = { format, tools: TOOLS, mode: "required", isParallel } as const;
      const grammar = callGrammar(options);
      const numCalls = new Set<number>();
      for (let round = 0; round < 60; round++) {
        const output = texts.next(grammar);
        const parsed = parse(output, outputFormatOf(options));
        expect(parsed.text, output).toBe("");
        expect(parsed.isWhole, output).toBe(true);
        for (const call of parsed.calls) checkArguments(call, TOOLS);
        numCalls.add(parsed.calls.length);
      }
      const isOne = !isParallel || format === "harmony";
      expect([...numCalls].sort()).toEqual(isOne ? [1] : [1, 2, 3]);
    }
  });

  const marked = FORMATS.filter((format) => format !== "llama" && format !== "pythonic");
  test.each(marked)("%s: calls between free text", (format) => {
    const random = seededRandom(6);
    const texts = new SpecTexts(random);
    for (const isParallel of [false, true]) {
      const options = { format, tools: TOOLS, mode: "auto", isParallel } as const;
      const grammar = callGrammar(options);
      let numCalls = 0;
      for (let round = 0; round < 60; round++) {
        const output = texts.next(grammar);
        const parsed = parse(output, outputFormatOf(options));
        expect(parsed.isWhole, output).toBe(true);
        for (const call of parsed.calls) checkArguments(call, TOOLS);
        if (parsed.calls.length === 0 && format !== "harmony") expect(parsed.text).toBe(output);
        if (!isParallel) expect(parsed.calls.length).toBeLessThanOrEqual(1);
        numCalls += parsed.calls.length;
      }
      expect(numCalls).toBeGreaterThan(20);
    }
  });

  test.each(["open", "closed"] as const)("thinking that is %s comes first", (start) => {
    const texts = new SpecTexts(seededRandom(7));
    const thinking = { format: "think", start } as const;
    for (const format of FORMATS.filter((name) => name !== "harmony")) {
      const options = {
        format,
        tools: TOOLS,
        mode: "required",
        isParallel: false,
        thinking,
      } as const;
      const grammar = callGrammar(options);
      for (let round = 0; round < 30; round++) {
        const output = texts.next(grammar);
        const parsed = parse(output, outputFormatOf(options));
        expect(parsed.calls, output).toHaveLength(1);
        expect(parsed.text, output).toBe("");
        expect(output.includes("</think>")).toBe(start === "open" || output.startsWith("<think>"));
      }
    }
  });

  test("an answer in JSON is the text, behind the thinking", () => {
    const texts = new SpecTexts(seededRandom(8));
    const json: GrammarSpec = { json_schema: { const: { n: 5 } } };
    const answer = '{"n": 5}';
    const starts: readonly ThinkingStart[] = ["open", "closed", "bare"];
    for (const start of starts) {
      for (const format of ["think", "mistral", "gemma", "harmony"] as const) {
        const thinking = { format, start };
        for (let round = 0; round < 30; round++) {
          const output = texts.next(answerGrammar(thinking, json));
          expect(parse(output, { thinking }).text, output).toBe(answer);
        }
      }
    }
    expect(texts.next(answerGrammar(undefined, json))).toBe(answer);
  });
});

/** The regular expressions of the grammar for text that is no call. */
function freeTexts(spec: GrammarSpec): readonly RegExp[] {
  const options = "choice" in spec ? spec.choice : [];
  return options.flatMap((option): RegExp[] => {
    if ("choice" in option) return [...freeTexts(option)];
    if ("regex" in option) return [new RegExp(`^(?:${option.regex})$`, "s")];
    const [first] = "sequence" in option ? option.sequence : [];
    return first && "regex" in first ? [new RegExp(`^(?:${first.regex})`, "s")] : [];
  });
}

test.each(["llama", "pythonic"] as const)("%s: no call comes as free text", (format) => {
  const random = seededRandom(9);
  const options = { format, tools: TOOLS, mode: "auto", isParallel: true } as const;
  const patterns = freeTexts(callGrammar(options));
  const parts = [
    "{",
    "[",
    '"name"',
    '"',
    "name",
    ": ",
    '"now"',
    "now",
    "note",
    "(",
    ")",
    ", ",
    '"parameters": {}',
    "}",
    "]",
    " ",
    "\n",
    "x",
    "type",
    "tool_",
  ];
  const calls = [
    '{"name": "now", "parameters": {}}',
    "[now()]",
    '\n{ "type": "function", "name": "now", "parameters": {}}',
    " [ now(a=1)]",
  ];
  let numFree = 0;
  for (let round = 0; round < 5000; round++) {
    const length = 1 + Math.floor(random() * 8);
    let output = random() < 0.3 ? (calls[Math.floor(random() * calls.length)] as string) : "";
    output = output.slice(0, random() < 0.5 ? undefined : Math.floor(random() * output.length));
    for (let i = 0; i < length; i++) output += parts[Math.floor(random() * parts.length)];
    const isFree = patterns.some((pattern) => pattern.test(output));
    const { calls: found } = parse(output, outputFormatOf(options));
    if (isFree) expect(found, output).toEqual([]);
    if (isFree) numFree++;
    const mayStart = /^\s*[[{]/.test(output);
    if (!mayStart) expect(isFree, output).toBe(true);
  }
  expect(numFree).toBeGreaterThan(300);
});

/** Of each way to write arguments, one. */
const WAYS: readonly ToolFormat[] = ["hermes", "qwen-coder", "dsml", "pythonic", "gemma"];

test("real tools, in every way to write arguments", () => {
  const random = seededRandom(10);
  const texts = new SpecTexts(random);
  for (const { id, name, inputSchema } of realTools) {
    const { $schema: _, ...schema } = inputSchema;
    const isValid = ajv.compile(schema);
    for (const format of WAYS) {
      const tools = [{ name, schema }];
      const options = { format, tools, mode: "required", isParallel: false } as const;
      const output = texts.next(callGrammar(options));
      const parsed = parse(output, outputFormatOf(options));
      expect(parsed.text, output).toBe("");
      expect(parsed.calls.length, output).toBe(1);
      expect(isValid(JSON.parse(parsed.calls[0]?.args ?? "")), `${id} ${output}`).toBe(true);
    }
  }
});

test("tags hold what is not JSON, and JSON what tags cannot bound", () => {
  const [weather, , note] = TOOLS as readonly [GrammarTool, GrammarTool, GrammarTool];
  const options = { format: "qwen-coder", mode: "required", isParallel: false } as const;
  expect(JSON.stringify(callGrammar({ ...options, tools: [weather] }))).toContain(
    "<function=weather>",
  );
  expect(JSON.stringify(callGrammar({ ...options, tools: [note] }))).not.toContain("<function=");
  expect(parseOutput("x", outputFormatOf({ ...options, tools: [note] }))).toEqual([text("x")]);
});
