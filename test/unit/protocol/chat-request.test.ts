import { describe, expect, test } from "vitest";
import { parseChatRequest } from "../../../src/protocol/chat-request.ts";
import { outcomeOf } from "./outcome-of.ts";

const user = { role: "user", content: "hi" };
const base = { model: "m", messages: [user] };
const toolCall = { id: "call_1", type: "function", function: { name: "ls", arguments: '{"a":1}' } };
const listTool = { type: "function", function: { name: "ls" } };

function parse(fields: Record<string, unknown>) {
  return parseChatRequest({ ...base, ...fields });
}

describe("messages become items", () => {
  test("a tool round keeps text, calls, results and reasoning in order", () => {
    const messages = [
      { role: "system", content: "be brief" },
      {
        role: "developer",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      user,
      { role: "assistant", content: null, reasoning_content: "hm", tool_calls: [toolCall] },
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "x" }] },
      { role: "assistant", content: "done" },
    ];
    const text = (type: string, value: string) => [{ type, text: value }];
    expect(parse({ messages }).request.input).toEqual([
      { type: "message", role: "system", content: text("input_text", "be brief") },
      { type: "message", role: "developer", content: text("input_text", "ab") },
      { type: "message", role: "user", content: text("input_text", "hi") },
      { type: "reasoning", text: "hm" },
      { type: "function_call", call_id: "call_1", name: "ls", arguments: '{"a":1}' },
      { type: "function_call_output", call_id: "call_1", output: "x" },
      { type: "message", role: "assistant", content: text("output_text", "done") },
    ]);
  });

  test("null for every optional field means absent", () => {
    const names = [
      "temperature top_p seed stop max_tokens max_completion_tokens tools tool_choice n audio",
      "response_format stream_options logprobs top_logprobs user stream parallel_tool_calls",
      "logit_bias modalities functions function_call web_search_options reasoning_effort",
    ].join(" ");
    const fields = Object.fromEntries(names.split(" ").map((name) => [name, null]));
    expect(parse(fields)).toEqual(parse({}));
  });

  test("the newer token cap wins over the older one", () => {
    const { request } = parse({ max_tokens: 9, max_completion_tokens: 5 });
    expect(request.maxOutputTokens).toBe(5);
    expect(parse({ max_tokens: 9 }).request.maxOutputTokens).toBe(9);
  });

  test("tools take the flat form, with and without parameters", () => {
    const described = {
      type: "function",
      function: { name: "cat", description: "d", parameters: {} },
    };
    const fields = { type: "function", description: null, parameters: null, strict: null };
    expect(parse({ tools: [listTool, described] }).request.callableTools).toEqual([
      { ...fields, name: "ls", path: "tools[0].function" },
      { ...fields, name: "cat", description: "d", parameters: {}, path: "tools[1].function" },
    ]);
  });

  test("fields that cannot change the answer are ignored", () => {
    const neutral = { n: 1, logit_bias: {}, logprobs: false, response_format: { type: "text" } };
    const ignored = { user: "u", store: true, metadata: { a: "b" }, continue_final_message: false };
    expect(parse({ ...neutral, ...ignored, unknown: 1 })).toEqual(parse({}));
  });

  test("log probabilities are wanted with none to 20 alternatives, or not at all", () => {
    const topLogprobs = (fields: object) => parse({ ...fields }).request.topLogprobs;
    expect(topLogprobs({ logprobs: true })).toBe(0);
    expect(topLogprobs({ logprobs: true, top_logprobs: 20 })).toBe(20);
    expect(topLogprobs({ logprobs: false, top_logprobs: 0 })).toBeUndefined();
  });

  test("biases are read by token id", () => {
    const { logitBias } = parse({ logit_bias: { 5: -100, 50000: 0.5 } }).request;
    expect([...logitBias]).toEqual([
      [5, -100],
      [50000, 0.5],
    ]);
  });

  test("each choice has a seed of its own, and none where none is sent", () => {
    expect(parse({}).seeds).toEqual([undefined]);
    expect(parse({ n: 2 }).seeds).toEqual([undefined, undefined]);
    expect(parse({ n: 3, seed: 0 }).seeds).toEqual([0, 1, 2]);
    const largest = Number.MAX_SAFE_INTEGER;
    expect(parse({ n: 3, seed: largest - 1 }).seeds).toEqual([largest - 1, largest, 0]);
  });

  test("include_usage and stream are read", () => {
    const chat = parse({ stream: true, stream_options: { include_usage: true } });
    expect([chat.request.stream, chat.includeUsage]).toEqual([true, true]);
  });
});

const message = (fields: object) => ({ messages: [{ role: "user", ...fields }] });

const refused: readonly (readonly [Record<string, unknown>, string])[] = [
  [{ messages: undefined }, "missing_required_parameter messages"],
  [{ messages: [] }, "invalid_value messages"],
  [{ messages: "hi" }, "invalid_type messages"],
  [{ messages: [null] }, "invalid_type messages[0]"],
  [{ messages: [{ content: "x" }] }, "missing_required_parameter messages[0].role"],
  [{ messages: [{ role: "function", content: "x" }] }, "invalid_value messages[0].role"],
  [message({ content: null }), "missing_required_parameter messages[0].content"],
  [message({ content: 5 }), "invalid_type messages[0].content"],
  [message({ content: [{ type: "image_url" }] }), "unsupported_content messages[0].content[0]"],
  [message({ content: [{ type: "smell" }] }), "invalid_value messages[0].content[0].type"],
  [
    message({ role: "tool", tool_call_id: "x", content: "" }),
    "invalid_value messages[0].tool_call_id",
  ],
  [message({ role: "tool", content: "" }), "missing_required_parameter messages[0].tool_call_id"],
  [
    message({ role: "assistant", tool_calls: [{ ...toolCall, id: null }] }),
    "missing_required_parameter messages[0].tool_calls[0].id",
  ],
  [
    message({ role: "assistant", tool_calls: [{ ...toolCall, function: { name: 1 } }] }),
    "invalid_type messages[0].tool_calls[0].function.name",
  ],
  [{ model: undefined }, "missing_required_parameter model"],
  [{ stream: "true" }, "invalid_type stream"],
  [{ temperature: "0" }, "invalid_type temperature"],
  [{ temperature: 3 }, "invalid_value temperature"],
  [{ n: 17 }, "invalid_value n"],
  [{ n: 0 }, "invalid_value n"],
  [{ logit_bias: { five: 1 } }, "invalid_value logit_bias"],
  [{ logit_bias: { 5: 101 } }, "invalid_value logit_bias.5"],
  [{ logit_bias: { 5: "1" } }, "invalid_type logit_bias.5"],
  [{ logprobs: 1 }, "invalid_type logprobs"],
  [{ top_logprobs: 1 }, "invalid_value top_logprobs"],
  [{ logprobs: true, top_logprobs: 21 }, "invalid_value top_logprobs"],
  [{ response_format: { type: "xml" } }, "invalid_value response_format.type"],
  [{ response_format: {} }, "missing_required_parameter response_format.type"],
  [{ continue_final_message: true }, "unsupported_parameter continue_final_message"],
  [{ functions: [] }, "unsupported_parameter functions"],
  [{ modalities: ["text", "audio"] }, "unsupported_parameter modalities"],
  [{ tools: [listTool, listTool] }, "invalid_value tools[1].function.name"],
  [{ tools: [{ type: "function" }] }, "missing_required_parameter tools[0].function"],
  [{ tools: [{ type: "custom", custom: {} }] }, "missing_required_parameter tools[0].custom.name"],
  [{ tools: [{ type: "mcp" }] }, "invalid_value tools[0].type"],
  [{ stop: ["a", "b", "c", "d", "e"] }, "invalid_value stop"],
  [{ max_completion_tokens: 0 }, "invalid_value max_completion_tokens"],
];

test.each(refused.map(([fields, error]) => [error, fields] as const))("%s", (error, fields) => {
  expect(outcomeOf(() => parse(fields))).toBe(`400 ${error}`);
});
