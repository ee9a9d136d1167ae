import { describe, expect, test } from "vitest";
import type {
  CallableTool,
  FunctionTool,
  TextFormat,
  ToolChoice,
} from "../../../src/protocol/responses-types.ts";
import { GrammarChecks } from "../../../src/session/grammar-checks.ts";
import { turnGrammar } from "../../../src/session/turn-grammar.ts";

/** Refuses every spec in which the word "refused" stands. */
function makeChecks(): { readonly checks: GrammarChecks; readonly checked: readonly string[] } {
  const checked: string[] = [];
  const checkGrammar = (spec: string) => {
    checked.push(spec);
    if (!spec.includes("refused")) return;
    throw Object.assign(new Error("ERR_GRAMMAR: /not: is refused"), { code: "ERR_GRAMMAR" });
  };
  return { checks: new GrammarChecks({ checkGrammar }), checked };
}

const schema = { type: "object", properties: { a: { type: "string" } } };
const ls: FunctionTool = {
  type: "function",
  name: "ls",
  description: null,
  parameters: schema,
  strict: null,
  path: "tools[0]",
};
const bad: FunctionTool = { ...ls, name: "bad", parameters: { not: "refused" }, path: "tools[1]" };

interface Wish {
  readonly tools?: readonly CallableTool[];
  readonly choice?: ToolChoice;
  readonly format?: TextFormat;
  readonly isParallel?: boolean;
  readonly isChat?: boolean;
}

function grammarOf(wish: Wish, checks = makeChecks().checks): string | undefined {
  const { tools = [], choice = { mode: "auto" }, format = { type: "text" } } = wish;
  const request = {
    callableTools: tools,
    toolChoice: choice,
    textFormat: format,
    parallelToolCalls: wish.isParallel ?? true,
  };
  const toolFormat = wish.isChat === false ? undefined : "hermes";
  const grammar = turnGrammar(request, { toolFormat, thinking: undefined, checks });
  return grammar && JSON.stringify(grammar);
}

function refusal(wish: Wish): unknown {
  try {
    return grammarOf(wish);
  } catch (error) {
    return error;
  }
}

const json: TextFormat = {
  type: "json_schema",
  name: "answer",
  schema,
  path: "text.format.schema",
};

describe("calls", () => {
  test("without tools, with none or outside of a chat the output is free", () => {
    expect(grammarOf({})).toBeUndefined();
    expect(grammarOf({ tools: [ls], choice: { mode: "none" } })).toBeUndefined();
    expect(grammarOf({ tools: [ls], isChat: false })).toBeUndefined();
  });

  test("auto leaves text free and holds the arguments of calls to their schema", () => {
    const grammar = grammarOf({ tools: [ls] });
    expect(grammar).toContain('"text":true');
    expect(grammar).toContain(JSON.stringify({ json_schema: schema, name: "ls" }));
  });

  test("a forced call leaves no free text, and names only the tool that is asked for", () => {
    const cat = { ...ls, name: "cat" };
    const required = grammarOf({ tools: [ls, cat], choice: { mode: "required" } });
    expect(required).not.toContain('"text"');
    expect(required).toContain("cat");
    const named = grammarOf({ tools: [ls, cat], choice: { mode: "required", named: [ls] } });
    expect(named).not.toContain("cat");
    const allowed = grammarOf({ tools: [ls, cat], choice: { mode: "auto", named: [cat] } });
    expect(allowed).not.toContain('\\"ls\\"');
  });

  test("one call at a time repeats nothing", () => {
    const wish = { tools: [ls], choice: { mode: "required" as const } };
    expect(grammarOf(wish)).toContain("repeat");
    expect(grammarOf({ ...wish, isParallel: false })).not.toContain("repeat");
    const named = { mode: "required", named: [ls] } as const;
    expect(grammarOf({ ...wish, choice: named })).not.toContain("repeat");
  });

  test("a function without parameters takes an empty object", () => {
    const grammar = grammarOf({ tools: [{ ...ls, parameters: null }] });
    expect(grammar).toContain('"additionalProperties":false');
  });

  test("a schema that cannot be enforced frees its own tool only, unless that is strict", () => {
    const grammar = grammarOf({ tools: [ls, bad] });
    expect(grammar).not.toContain("refused");
    expect(grammar).toContain(JSON.stringify({ json_schema: schema, name: "ls" }));
    expect(grammar).toContain(JSON.stringify({ json_schema: { type: "object" }, name: "bad" }));
    expect(refusal({ tools: [ls, { ...bad, strict: true }] })).toMatchObject({
      status: 400,
      body: { code: "invalid_value", param: "tools[1].parameters", message: "/not: is refused" },
    });
  });

  test("a free-form tool takes any text, or what its grammar derives", () => {
    const patch = { type: "custom", name: "patch", description: null, path: "tools[0]" } as const;
    expect(grammarOf({ tools: [{ ...patch, format: { type: "text" } }] })).toContain('"input"');
    const format = { type: "grammar", syntax: "regex", definition: "[ab]+" } as const;
    expect(grammarOf({ tools: [{ ...patch, format }] })).toContain(
      '{"in_json_string":{"regex":"[ab]+"}}',
    );
    const wrong = { ...format, syntax: "lark", definition: "refused" } as const;
    expect(refusal({ tools: [{ ...patch, format: wrong }] })).toMatchObject({
      body: { param: "tools[0].format.definition" },
    });
  });
});

describe("the answer", () => {
  test("is held to its schema, or is any object", () => {
    expect(grammarOf({ format: json })).toBe(
      JSON.stringify({ json_schema: schema, name: "answer" }),
    );
    expect(grammarOf({ format: { type: "json_object" }, isChat: false })).toContain('"any"');
  });

  test("beside tools a turn is calls or the answer, and calls alone when they are required", () => {
    const both = grammarOf({ tools: [ls], format: json });
    expect(both).toContain("answer");
    expect(both).not.toContain('"text"');
    expect(grammarOf({ tools: [ls], format: json, choice: { mode: "required" } })).not.toContain(
      "answer",
    );
  });

  test("a schema that cannot be enforced is refused, strict or not", () => {
    const format = { ...json, schema: { not: "refused" } };
    expect(refusal({ format })).toMatchObject({
      body: { code: "invalid_value", param: "text.format.schema" },
    });
  });
});

test("a model that cannot have grammars still calls tools, if nothing must be valid", () => {
  const checks = new GrammarChecks({
    checkGrammar: () => {
      throw Object.assign(new Error("no grammars"), { code: "ERR_GRAMMAR" });
    },
  });
  expect(grammarOf({ tools: [ls] }, checks)).toBeUndefined();
  expect(() => grammarOf({ tools: [{ ...ls, strict: true }] }, checks)).toThrow("no grammars");
  expect(() => grammarOf({ format: { type: "json_object" } }, checks)).toThrow("no grammars");
});

test("tools that come again are not checked again", () => {
  const { checks, checked } = makeChecks();
  for (let turn = 0; turn < 3; turn++) grammarOf({ tools: [ls, bad] }, checks);
  expect(checked).toHaveLength(3); // whether there are grammars at all, and each schema
});
