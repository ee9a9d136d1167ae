/** Valid requests of every kind, small: what the mutations start from. */

export interface BaseRequest {
  readonly transport: "http" | "ws";
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
}

const TOOLS = [
  {
    type: "function",
    name: "get_weather",
    description: "Weather of a city",
    strict: true,
    parameters: {
      type: "object",
      properties: { city: { type: "string", maxLength: 8 }, days: { type: "integer", minimum: 1 } },
      required: ["city"],
      additionalProperties: false,
    },
  },
  {
    type: "custom",
    name: "patch",
    format: { type: "grammar", syntax: "regex", definition: "[a-c]{1,4}" },
  },
  {
    type: "namespace",
    name: "files",
    description: "Files",
    tools: [{ type: "function", name: "read" }],
  },
  { type: "web_search" },
];

const HISTORY = [
  { type: "message", role: "developer", content: "Be brief." },
  { role: "user", content: [{ type: "input_text", text: "Weather in Oslo?" }] },
  { type: "reasoning", id: "rs_1", summary: [], content: null, encrypted_content: "AAAA" },
  {
    type: "function_call",
    id: "fc_1",
    call_id: "call_1",
    name: "get_weather",
    arguments: '{"city":"Oslo"}',
  },
  {
    type: "function_call_output",
    call_id: "call_1",
    output: [{ type: "input_text", text: "4 C" }],
  },
  { type: "custom_tool_call", call_id: "call_2", name: "patch", input: "abc" },
  { type: "custom_tool_call_output", call_id: "call_2", output: "ok" },
  { type: "item_reference", id: "msg_1" },
  { type: "additional_tools", role: "developer", tools: [{ type: "function", name: "late" }] },
];

const SCHEMA = { type: "object", properties: { a: { enum: [1, "x", null] } }, required: ["a"] };
const COMMON = { model: "$MODEL", temperature: 0, store: false };
const SHORT = { ...COMMON, max_output_tokens: 2 };
const CHAT = { model: "$MODEL", temperature: 0, max_tokens: 2 };

const RESPONSES: readonly Readonly<Record<string, unknown>>[] = [
  { ...SHORT, input: "Hi" },
  { ...SHORT, input: "Hi", stream: true, metadata: { a: "b" }, reasoning: { effort: "low" } },
  { ...SHORT, input: HISTORY, tools: TOOLS, tool_choice: "auto", parallel_tool_calls: false },
  { ...SHORT, input: "Hi", tools: TOOLS, tool_choice: { type: "function", name: "get_weather" } },
  {
    ...SHORT,
    input: "Hi",
    tools: TOOLS,
    tool_choice: {
      type: "allowed_tools",
      mode: "required",
      tools: [{ type: "function", name: "get_weather" }],
    },
  },
  {
    ...SHORT,
    input: "Hi",
    text: { format: { type: "json_schema", name: "answer", strict: true, schema: SCHEMA } },
  },
  {
    ...SHORT,
    input: "Hi",
    include: ["message.output_text.logprobs", "reasoning.encrypted_content"],
    top_logprobs: 2,
    truncation: "auto",
    context_management: [{ type: "compaction", compact_threshold: 1000 }],
    prompt_cache_key: "k",
    service_tier: "auto",
    user: "u",
    seed: 7,
    top_p: 0.9,
    stop: ["x"],
  },
  { ...SHORT, store: true, input: "Hi", instructions: "Be brief." },
  { ...SHORT, previous_response_id: "resp_unknown", input: [] },
];

const CHATS: readonly unknown[] = [
  { ...CHAT, messages: [{ role: "user", content: "Hi" }] },
  {
    ...CHAT,
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "4 C" },
    ],
    tools: [{ type: "function", function: { name: "f", parameters: SCHEMA } }],
    tool_choice: "auto",
  },
  {
    ...CHAT,
    n: 2,
    logprobs: true,
    top_logprobs: 2,
    seed: 3,
    stop: "x",
    logit_bias: { "5": -100 },
    messages: [{ role: "user", content: "Hi" }],
    response_format: { type: "json_schema", json_schema: { name: "s", schema: SCHEMA } },
  },
];

const COMPLETIONS: readonly unknown[] = [
  { ...CHAT, prompt: "Hi", echo: true, logprobs: 1 },
  { ...CHAT, prompt: [[5, 6], [7]], stream: true },
];

const post =
  (path: string) =>
  (body: unknown): BaseRequest => ({
    transport: "http",
    method: "POST",
    path,
    body,
  });

const frame = (body: unknown): BaseRequest => ({
  transport: "ws",
  method: "GET",
  path: "/v1/responses",
  body,
});

export const BASE_REQUESTS: readonly BaseRequest[] = [
  ...RESPONSES.map(post("/v1/responses")),
  ...RESPONSES.map((body) => frame({ type: "response.create", ...body })),
  ...RESPONSES.map((body, i) =>
    frame({ type: "response.create", stream_id: `lane_${i}`, ...body }),
  ),
  frame({ type: "response.create", generate: false, ...SHORT, input: HISTORY.slice(0, 2) }),
  frame({ type: "response.cancel", response_id: "resp_unknown" }),
  frame({ type: "response.steer", previous_response_id: "resp_unknown", input: "Stop" }),
  ...CHATS.map(post("/v1/chat/completions")),
  ...COMPLETIONS.map(post("/v1/completions")),
  post("/v1/responses/input_tokens")({ ...COMMON, input: "Hi", tools: TOOLS }),
  post("/v1/responses/compact")({ ...COMMON, input: HISTORY.slice(0, 2) }),
  post("/v1/responses/resp_unknown/cancel")({}),
  {
    transport: "http",
    method: "GET",
    path: "/v1/responses/resp_unknown?stream=true&starting_after=2",
  },
  {
    transport: "http",
    method: "GET",
    path: "/v1/responses/resp_unknown/input_items?limit=5&order=asc",
  },
  { transport: "http", method: "DELETE", path: "/v1/responses/resp_unknown" },
  { transport: "http", method: "GET", path: "/v1/models/nothing" },
];
