/** Calls of tools that the client knows otherwise than the model: namespaces, search, shells. */
import { describe, expect, it } from "vitest";
import { parseResponsesRequest } from "../../../src/protocol/responses-request.ts";
import type { ResponseEvent, ResponsesRequest } from "../../../src/protocol/responses-types.ts";
import { toChatMessages } from "../../../src/session/chat-messages.ts";
import { calls, createFixture } from "./session-fixture.ts";

function requestOf(fields: Readonly<Record<string, unknown>>): ResponsesRequest {
  return parseResponsesRequest({ model: "m", input: "go", store: false, ...fields }, "ws");
}

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
      return toChatMessages(null, input).at(-1)?.tool_calls?.[0]?.function.name;
    });
    expect(names).toEqual(["files__read", "files__read"]);
  });
});

function callIdOf(item: unknown): string {
  if (typeof item === "object" && item !== null && "call_id" in item) return String(item.call_id);
  throw new TypeError("not a call");
}
