import { describe, expect, test } from "vitest";
import { OMITTED_PART_TEXT } from "../../../src/protocol/parse-call-items.ts";
import { parseResponsesRequest } from "../../../src/protocol/responses-request.ts";
import { outcomeOf } from "./outcome-of.ts";

const base = { model: "m", input: "hi" };

function parse(fields: Record<string, unknown>) {
  return parseResponsesRequest({ ...base, ...fields }, "http");
}

function parseItems(...input: unknown[]) {
  return parse({ input, store: false }).input; // stored items get ids
}

const IGNORED = { type: "ignored" };
/** With an id: others are random. */
const input = [{ id: "msg_1", type: "message", role: "user", content: "hi" }];
const call = { type: "function_call", call_id: "call_1", name: "ls", arguments: "{}" };

describe("defaults", () => {
  test("a string input is one user message and every default is filled in", () => {
    const id = expect.stringMatching(/^msg_./);
    const message = { id, type: "message", role: "user" };
    expect(parse({})).toEqual({
      model: "m",
      inputItems: { json: expect.any(Uint8Array), ends: [expect.any(Number)], ids: [id] },
      input: [{ ...message, content: [{ type: "input_text", text: "hi" }] }],
      instructions: null,
      previousResponseId: null,
      callableTools: [],
      tools: [],
      toolChoice: { mode: "auto" },
      parallelToolCalls: true,
      textFormat: { type: "text" },
      reasoningEffort: undefined,
      includesEncryptedReasoning: false,
      maxOutputTokens: null,
      temperature: undefined,
      topP: undefined,
      topK: undefined,
      minP: undefined,
      repeatPenalty: undefined,
      frequencyPenalty: undefined,
      presencePenalty: undefined,
      seed: undefined,
      stop: [],
      logitBias: new Map(),
      topLogprobs: undefined,
      store: true,
      compacts: false,
      compactThreshold: undefined,
      truncation: "disabled",
      background: false,
      stream: false,
      generate: true,
      metadata: {},
      echo: {},
    });
  });

  test("log probabilities are wanted by include, with as many alternatives as top_logprobs", () => {
    const include = ["message.output_text.logprobs"];
    expect(parse({ include }).topLogprobs).toBe(0);
    expect(parse({ include, top_logprobs: 3 })).toMatchObject({
      topLogprobs: 3,
      echo: { top_logprobs: 3 },
    });
    expect(parse({ top_logprobs: 3 })).toMatchObject({
      topLogprobs: undefined,
      echo: { top_logprobs: 3 },
    });
  });

  test("null equals absence for every optional field", () => {
    const optional = [
      "instructions previous_response_id conversation tools tool_choice parallel_tool_calls",
      "max_tool_calls max_output_tokens temperature top_p top_logprobs stop seed top_k min_p text",
      "frequency_penalty presence_penalty repeat_penalty reasoning include store stream background",
      "truncation context_management prompt_cache_key prompt_cache_retention prompt_cache_options",
      "metadata service_tier safety_identifier user prompt moderation stream_options",
    ];
    const names = optional.join(" ").split(" ");
    const nulls = Object.fromEntries(names.map((name) => [name, null]));
    expect(parse({ input, ...nulls })).toEqual(parse({ input }));
  });

  test("unknown and ignorable fields are ignored", () => {
    const fields = { client_metadata: { a: "b" }, access_programs: 1, image: {}, whatever: [1] };
    expect(parse({ input, ...fields })).toEqual(parse({ input }));
  });

  test("echoed fields come back as sent", () => {
    const echo = {
      reasoning: { effort: "low", other: 1 },
      text: { format: { type: "text" }, verbosity: "low" },
      prompt_cache_key: "k",
      max_tool_calls: 3,
      user: "u",
    };
    expect(parse({ ...echo, service_tier: "flex" }).echo).toEqual(echo);
  });

  test("`generate` is a WebSocket field, `stream` an HTTP one", () => {
    const fields = { ...base, generate: false, stream: false };
    expect(parseResponsesRequest(fields, "http")).toMatchObject({ generate: true, stream: false });
    expect(parseResponsesRequest(fields, "ws")).toMatchObject({ generate: false, stream: true });
  });

  test("prewarm acts like generate:false on both transports", () => {
    expect(parse({ prompt_cache_options: { prewarm: true } }).generate).toBe(false);
  });

  test("empty input is legal for a continuation, a warmup and with instructions", () => {
    const empty = { model: "m", input: [] };
    expect(outcomeOf(() => parseResponsesRequest(empty, "ws"))).toBe(
      "400 missing_required_parameter input",
    );
    for (const reason of [
      { previous_response_id: "resp_1" },
      { generate: false },
      { instructions: "i" },
    ]) {
      expect(parseResponsesRequest({ ...empty, ...reason }, "ws").input).toEqual([]);
    }
  });
});

describe("items", () => {
  test("a message may miss its type and have text in either direction's parts", () => {
    const content = [
      { type: "input_text", text: "a", prompt_cache_breakpoint: {} },
      { type: "output_text", text: "b", annotations: [] },
      { type: "refusal", refusal: "c" },
    ];
    expect(parseItems({ role: "assistant", phase: "final_answer", id: "msg_1", content })).toEqual([
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        phase: "final_answer",
        content: [
          { type: "input_text", text: "a" },
          { type: "output_text", text: "b" },
          { type: "output_text", text: "c" },
        ],
      },
    ]);
  });

  test("an image in a tool output becomes a placeholder", () => {
    const output = [
      { type: "input_text", text: "see" },
      { type: "input_image", image_url: "data:image/png;base64,AA==" },
    ];
    expect(parseItems({ type: "function_call_output", call_id: "c", output })).toEqual([
      { type: "function_call_output", call_id: "c", output: `see\n${OMITTED_PART_TEXT}` },
    ]);
  });

  test("the effort of reasoning and its opaque copy can be asked for", () => {
    expect(
      parse({ reasoning: { effort: "none" }, include: ["reasoning.encrypted_content"] }),
    ).toMatchObject({ reasoningEffort: "none", includesEncryptedReasoning: true });
  });

  test("reasoning has its raw text, else what a server sealed, else its summary", () => {
    const summary = [
      { type: "summary_text", text: "su" },
      { type: "summary_text", text: "m" },
    ];
    const reasoning = { type: "reasoning", summary };
    const content = [{ type: "reasoning_text", text: "think" }];
    expect(
      parseItems(
        { ...reasoning, id: "rs_1", content, encrypted_content: "x" },
        { ...reasoning, id: "rs_2", content: null, encrypted_content: "x" },
        { ...reasoning, content: null, encrypted_content: null },
        { type: "reasoning", summary: [] },
      ),
    ).toEqual([
      { type: "reasoning", id: "rs_1", text: "think" },
      { type: "sealed_reasoning", id: "rs_2", sealed: "x", summary: "sum" },
      { type: "reasoning", text: "sum" },
      IGNORED,
    ]);
  });

  test("settings and messages of other agents are read", () => {
    const format = { type: "json_object" };
    expect(
      parseItems(
        { type: "configuration_update", reasoning: { effort: "low" }, text: { format } },
        { type: "configuration_update", reasoning: null },
        {
          type: "agent_message",
          author: "/root",
          content: [{ type: "encrypted_content" }, { type: "input_text", text: "hi" }],
        },
      ),
    ).toEqual([
      { type: "configuration_update", reasoningEffort: "low", textFormat: format },
      { type: "configuration_update" },
      { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] },
    ]);
  });

  test("calls of other client-side tools read as function calls", () => {
    const items = parseItems(
      { type: "custom_tool_call", call_id: "a", name: "apply_patch", input: "*** Begin" },
      { type: "local_shell_call", call_id: "b", action: { type: "exec", command: ["ls"] } },
      { type: "shell_call", call_id: "c", action: { commands: ["ls"] } },
      { type: "apply_patch_call", call_id: "d", operation: { type: "delete_file", path: "p" } },
      { type: "tool_search_call", call_id: "e", arguments: { query: "q" } },
    );
    expect(
      items.map((item) => item.type === "function_call" && `${item.name} ${item.arguments}`),
    ).toEqual([
      'apply_patch {"input":"*** Begin"}',
      'local_shell {"command":["ls"]}',
      'shell {"commands":["ls"]}',
      'apply_patch {"type":"delete_file","path":"p"}',
      'tool_search {"query":"q"}',
    ]);
  });

  test("items of hosted tools are ignored", () => {
    const types = ["web_search_call", "file_search_call", "mcp_list_tools", "computer_call_output"];
    expect(parseItems(...types.map((type) => ({ type })), call)).toEqual([
      ...types.map(() => IGNORED),
      call,
    ]);
  });
});

describe("tools", () => {
  test("functions and custom tools are offered, everything is echoed", () => {
    const patchFormat = { type: "grammar", syntax: "lark", definition: "start: /a/" };
    const tools = [
      { type: "function", name: "ls", parameters: { type: "object" }, strict: true },
      { type: "custom", name: "apply_patch", format: patchFormat },
      { type: "namespace", name: "mcp", tools: [] },
      { type: "tool_search", execution: "server" },
      { type: "web_search" },
      { type: "something_new" },
      { type: "function", name: "bell" },
    ];
    const request = parse({ tools });
    expect(request.tools).toEqual(tools);
    expect(request.callableTools).toEqual([
      {
        type: "function",
        name: "ls",
        description: null,
        parameters: { type: "object" },
        strict: true,
        path: "tools[0]",
      },
      {
        type: "custom",
        name: "apply_patch",
        description: null,
        format: patchFormat,
        path: "tools[1]",
      },
      {
        type: "function",
        name: "bell",
        description: null,
        parameters: null,
        strict: null,
        path: "tools[6]",
      },
    ]);
  });
});

const longText = "x".repeat(10 * 1024 * 1024 + 1);
const fn = (name: string) => ({ type: "function", name });
const custom = (format: object) => ({ tools: [{ type: "custom", name: "patch", format }] });
const lateTools = (fields: object) => ({ type: "additional_tools", tools: [], ...fields });
const part = (value: unknown) => ({ input: [{ role: "user", content: [value] }] });

describe("errors", () => {
  const refused: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ model: null }, "missing_required_parameter model"],
    [{ model: 5 }, "invalid_type model"],
    [{ input: 5 }, "invalid_type input"],
    [{ input: null }, "missing_required_parameter input"],
    [{ input: [5] }, "invalid_type input[0]"],
    [{ input: longText }, "invalid_value input"],
    [{ input: Array(4097).fill(call) }, "invalid_value input"],
    [{ input: [call, { type: "strange" }] }, "invalid_value input[1].type"],
    [{ input: [{ role: "robot", content: "x" }] }, "invalid_value input[0].role"],
    [{ input: [{ content: "x" }] }, "missing_required_parameter input[0].role"],
    [{ input: [{ role: "user" }] }, "missing_required_parameter input[0].content"],
    [{ input: [{ role: "user", content: 7 }] }, "invalid_type input[0].content"],
    [part({ type: "video" }), "invalid_value input[0].content[0].type"],
    [part({ type: "input_text" }), "missing_required_parameter input[0].content[0].text"],
    [part({ type: "input_image", image_url: "u" }), "unsupported_content input[0].content[0]"],
    [part({ type: "input_file", file_id: "f" }), "unsupported_content input[0].content[0]"],
    [{ input: [{ ...call, call_id: "" }] }, "invalid_value input[0].call_id"],
    [{ input: [{ ...call, call_id: "c".repeat(65) }] }, "invalid_value input[0].call_id"],
    [{ input: [{ ...call, arguments: {} }] }, "invalid_type input[0].arguments"],
    [
      { input: [{ type: "function_call_output", call_id: "c" }] },
      "missing_required_parameter input[0].output",
    ],
    [
      { input: [{ type: "item_reference" }], store: false },
      "missing_required_parameter input[0].id",
    ],
    [{ input: [{ type: "compaction_trigger" }, call] }, "invalid_value input[0].type"],
    [{ input: [{ type: "compaction" }] }, "missing_required_parameter input[0].encrypted_content"],
    [
      { input: [{ type: "compaction_summary", encrypted_content: "AQID" }] },
      "invalid_value input[0].encrypted_content",
    ],
    [{ instructions: 1 }, "invalid_type instructions"],
    [{ previous_response_id: {} }, "invalid_type previous_response_id"],
    [{ conversation: "c" }, "unsupported_parameter conversation"],
    [{ prompt: { id: "p" } }, "unsupported_parameter prompt"],
    [{ background: true, store: false }, "invalid_value background"],
    [{ truncation: "some" }, "invalid_value truncation"],
    [{ truncation: "all" }, "invalid_value truncation"],
    [
      { context_management: [{ type: "compaction" }] },
      "missing_required_parameter context_management[0].compact_threshold",
    ],
    [
      { context_management: [{ type: "compaction", compact_threshold: 999 }] },
      "invalid_value context_management[0].compact_threshold",
    ],
    [{ context_management: [{ type: "x" }] }, "invalid_value context_management[0].type"],
    [{ moderation: {} }, "unsupported_parameter moderation"],
    [{ top_logprobs: 21 }, "invalid_value top_logprobs"],
    [{ tools: {} }, "invalid_type tools"],
    [{ tools: ["ls"] }, "invalid_type tools[0]"],
    [{ tools: [{ name: "ls" }] }, "missing_required_parameter tools[0].type"],
    [{ tools: [fn("a b")] }, "invalid_value tools[0].name"],
    [{ tools: [fn("")] }, "invalid_value tools[0].name"],
    [{ tools: [fn("a"), { type: "web_search" }, fn("a")] }, "invalid_value tools[2].name"],
    [{ tools: [{ ...fn("a"), parameters: "x" }] }, "invalid_type tools[0].parameters"],
    [{ tools: Array(513).fill({ type: "web_search" }) }, "invalid_value tools"],
    [{ tools: [{ type: "custom", name: "a b" }] }, "invalid_value tools[0].name"],
    [custom({ type: "json" }), "invalid_value tools[0].format.type"],
    [custom({ type: "grammar", syntax: "gbnf" }), "invalid_value tools[0].format.syntax"],
    [
      custom({ type: "grammar", syntax: "lark" }),
      "missing_required_parameter tools[0].format.definition",
    ],
    [{ input: [{ type: "additional_tools" }] }, "missing_required_parameter input[0].tools"],
    [{ input: [lateTools({ role: "user" })] }, "invalid_value input[0].role"],
    [{ input: [lateTools({ tools: [fn("")] })] }, "invalid_value input[0].tools[0].name"],
    [{ tool_choice: "maybe" }, "invalid_value tool_choice"],
    [{ tool_choice: 1 }, "invalid_type tool_choice"],
    [{ text: { format: { type: "yaml" } } }, "invalid_value text.format.type"],
    [{ text: { verbosity: "loud" } }, "invalid_value text.verbosity"],
    [{ reasoning: { effort: "much" } }, "invalid_value reasoning.effort"],
    [{ reasoning: { summary: 1 } }, "invalid_type reasoning.summary"],
    [{ include: ["reasoning.encrypted_content", "all"] }, "invalid_value include[1]"],
    [{ temperature: 2.1 }, "invalid_value temperature"],
    [{ temperature: "1" }, "invalid_type temperature"],
    [{ top_p: -0.1 }, "invalid_value top_p"],
    [{ top_k: 1.5 }, "invalid_type top_k"],
    [{ min_p: 2 }, "invalid_value min_p"],
    [{ repeat_penalty: 0 }, "invalid_value repeat_penalty"],
    [{ frequency_penalty: 3 }, "invalid_value frequency_penalty"],
    [{ seed: -1 }, "invalid_value seed"],
    [{ seed: 2 ** 54 }, "invalid_value seed"],
    [{ stop: [""] }, "invalid_value stop[0]"],
    [{ stop: [1] }, "invalid_type stop"],
    [{ stop: ["a", "b", "c", "d", "e"] }, "invalid_value stop"],
    [{ max_output_tokens: 0 }, "invalid_value max_output_tokens"],
    [{ max_output_tokens: "16" }, "invalid_type max_output_tokens"],
    [{ stream: "true" }, "invalid_type stream"],
    [{ store: 1 }, "invalid_type store"],
    [{ metadata: [] }, "invalid_type metadata"],
    [{ metadata: { a: 1 } }, "invalid_type metadata.a"],
    [{ metadata: { a: "x".repeat(513) } }, "invalid_value metadata.a"],
    [{ metadata: { ["k".repeat(65)]: "" } }, "invalid_value metadata"],
    [{ service_tier: "gold" }, "invalid_value service_tier"],
    [{ prompt_cache_retention: "1y" }, "invalid_value prompt_cache_retention"],
  ];

  test.each(refused.map(([fields, error]) => [error, fields] as const))("%s", (error, fields) => {
    expect(outcomeOf(() => parse(fields))).toBe(`400 ${error}`);
  });

  test("more than 16 metadata pairs are refused", () => {
    const pairs = Array.from({ length: 17 }, (_, i) => [`k${i}`, "v"]);
    expect(outcomeOf(() => parse({ metadata: Object.fromEntries(pairs) }))).toBe(
      "400 invalid_value metadata",
    );
  });

  test("a key named __proto__ stays data", () => {
    const body = JSON.parse('{"model":"m","input":"x","metadata":{"__proto__":"v"}}');
    expect(Object.keys(parseResponsesRequest(body, "http").metadata)).toEqual(["__proto__"]);
  });
});
