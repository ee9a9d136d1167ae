/** Calls of tools that the client knows otherwise than the model: namespaces, search, shells. */
import { describe, expect, it } from "vitest";
import { parseResponsesRequest } from "../../../src/protocol/responses-request.ts";
import type {
  InputItem,
  ResponseEvent,
  ResponsesRequest,
} from "../../../src/protocol/responses-types.ts";
import { extendContext, outputToInput } from "../../../src/session/context-items.ts";
import { toChatMessages } from "../../../src/session/chat-messages.ts";
import { calls, createFixture } from "./session-fixture.ts";

function requestOf(fields: Readonly<Record<string, unknown>>): ResponsesRequest {
  return parseResponsesRequest({ model: "m", input: "go", store: false, ...fields }, "ws");
}

const resolved = (input: readonly InputItem[]) =>
  input.filter((item) => item.type !== "item_reference");

/** The items of `output_item.added`, `output_item.done` and the final output, in this order. */
function itemsOf(events: readonly ResponseEvent[]): readonly unknown[] {
  return events.flatMap((event) => {
    if (event.type === "response.completed") return event.response.output;
    return "item" in event ? [event.item] : [];
  });
}

describe("members of namespaces", () => {
  const tools = [
    {
      type: "namespace",
      name: "files",
      tools: [
        { type: "function", name: "read", parameters: { type: "object" } },
        { type: "custom", name: "patch" },
      ],
    },
  ];

  it("a call names its namespace wherever the item appears", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(
      calls(
        { name: "files__read", arguments: ["{}"] },
        { name: "files__patch", arguments: ['{"input": "x"}'] },
      ),
    );
    const { events } = await fixture.run(requestOf({ tools }));
    const read = { type: "function_call", namespace: "files", name: "read" };
    const patch = { type: "custom_tool_call", namespace: "files", name: "patch" };
    const items = itemsOf(events);
    for (const [index, item] of [read, read, patch, patch, read, patch].entries()) {
      expect(items[index]).toMatchObject(item);
    }
    const done = events.find(({ type }) => type === "response.function_call_arguments.done");
    expect(done).toMatchObject({ name: "read" });
  });

  it("the model reads and writes flat names", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(calls({ name: "files__read", arguments: ["{}"] }));
    const socket = fixture.connect();
    const { response } = await socket.run(requestOf({ tools }));
    const [call] = response.output;
    const output = { type: "function_call_output", call_id: callIdOf(call), output: "text" };
    const next = requestOf({ tools, previous_response_id: response.id, input: [output] });
    const { response: second } = await socket.run(next);
    const [first] = fixture.endpoint.requests;
    const offered = first?.request.outputFormat?.calls?.tools.map(({ name }) => name);
    expect(offered).toEqual(["files__read", "files__patch"]);
    expect(fixture.textModel.tokenizer.encodedTexts[0]).toContain('"name":"files__read"');
    expect(fixture.tokenizer.preparedGrammars[0]).toContain("files__read");
    // The call and its result continue the sequence.
    expect(second.usage?.input_tokens_details.miss_reason).toBeUndefined();
  });

  it("a call in the history is read by its flat name, in one piece or in two", () => {
    const call = { type: "function_call", call_id: "c", arguments: "{}" };
    const names = [
      { ...call, namespace: "files", name: "read" },
      { ...call, name: "files__read" },
    ].map((item) => {
      const { input } = requestOf({ input: [{ role: "user", content: "go" }, item] });
      const head = { instructions: null, tools: [] };
      return toChatMessages(head, extendContext([], resolved(input))).at(-1)?.tool_calls?.[0]
        ?.function.name;
    });
    expect(names).toEqual(["files__read", "files__read"]);
  });
});

describe("tools that the API knows by type", () => {
  const types = ["tool_search", "local_shell", "shell", "apply_patch"];
  const tools = types.map((type) => ({ type, execution: "client" }));
  const written = [
    ["tool_search", '{"query": "read", "limit": 2}'],
    ["local_shell", '{"command": ["ls", "-a"], "timeout_ms": 5}'],
    ["shell", '{"commands": ["ls"]}'],
    ["apply_patch", '{"type": "delete_file", "path": "a"}'],
  ] as const;
  const done = [
    {
      type: "tool_search_call",
      execution: "client",
      arguments: { query: "read", limit: 2 },
    },
    {
      type: "local_shell_call",
      action: { type: "exec", command: ["ls", "-a"], env: {}, timeout_ms: 5 },
    },
    {
      type: "shell_call",
      action: { commands: ["ls"], timeout_ms: null, max_output_length: null },
    },
    { type: "apply_patch_call", operation: { type: "delete_file", path: "a" } },
  ];

  it("are offered as functions, and calls of them are items of their own without deltas", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(
      calls(...written.map(([name, text]) => ({ name, arguments: [...text] }))),
    );
    const { events, response } = await fixture.run(requestOf({ tools }));
    expect(response.output).toMatchObject(done.map((item) => ({ ...item, status: "completed" })));
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      ...done.flatMap(() => ["response.output_item.added", "response.output_item.done"]),
      "response.completed",
    ]);
    expect(itemsOf(events)[0]).toMatchObject({
      type: "tool_search_call",
      status: "in_progress",
      arguments: {},
    });
    const [first] = fixture.endpoint.requests;
    expect(first?.request.outputFormat?.calls?.tools.map(({ name }) => name)).toEqual(types);
    expect(fixture.tokenizer.encodedTexts[0]).toContain('"name":"apply_patch"');
  });

  it("a call sent back reads as the one that was made", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(
      calls(...written.map(([name, text]) => ({ name, arguments: [text] }))),
    );
    const { response } = await fixture.run(requestOf({ tools }));
    const chained = outputToInput(response.output);
    const resent = extendContext([], resolved(requestOf({ input: response.output }).input));
    expect(resent).toEqual(chained);
    expect(resent.map((item) => item.type === "function_call" && item.arguments)).toEqual(
      written.map(([, text]) => JSON.stringify(JSON.parse(text))),
    );
  });

  it("a call that the token cap cuts is no item", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push({
      steps: [
        [{ type: "call_start", name: "shell" }],
        [{ type: "call_arguments", delta: '{"comm' }],
      ],
      finish: "length",
    });
    const { response, events } = await fixture.run(requestOf({ tools }));
    expect(response.status).toBe("incomplete");
    expect(itemsOf(events)).toEqual([]);
  });

  it("results name their call by its id or by that of its item", () => {
    const call = {
      id: "lsh_1",
      type: "local_shell_call",
      call_id: "c",
      action: { command: ["ls"] },
    };
    const outputs = [
      { type: "local_shell_call_output", id: "lsh_1", output: "a" },
      { type: "local_shell_call_output", id: "c", output: "b" },
      { type: "shell_call_output", call_id: "c", output: [{ stdout: "x" }] },
      { type: "apply_patch_call_output", call_id: "c", status: "failed" },
    ];
    const { input } = requestOf({ input: [call, ...outputs] });
    const results = extendContext([], resolved(input)).slice(1);
    expect(results.map((item) => item.type === "function_call_output" && item)).toMatchObject([
      { call_id: "c", output: "a" },
      { call_id: "c", output: "b" },
      { call_id: "c", output: '[{"stdout":"x"}]' },
      { call_id: "c", output: "failed" },
    ]);
  });

  it("a tool of the client's own takes the name", () => {
    const own = { type: "custom", name: "apply_patch" };
    const hosted = { type: "shell", environment: { type: "container_auto" } };
    const { callableTools } = requestOf({ tools: [{ type: "apply_patch" }, own, hosted] });
    expect(callableTools.map(({ type, name }) => [type, name])).toEqual([
      ["custom", "apply_patch"],
    ]);
  });
});

function callIdOf(item: unknown): string {
  if (typeof item === "object" && item !== null && "call_id" in item) return String(item.call_id);
  throw new TypeError("not a call");
}
