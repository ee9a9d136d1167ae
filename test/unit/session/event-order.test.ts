import { describe, expect, it } from "vitest";
import type { ResponseEvent } from "../../../src/protocol/responses-types.ts";
import { calls, createFixture, says, weatherTool } from "./session-fixture.ts";

const types = (events: readonly ResponseEvent[]) => events.map((event) => event.type);
const MESSAGE_START = ["response.output_item.added", "response.content_part.added"];
const MESSAGE_END = [
  "response.output_text.done",
  "response.content_part.done",
  "response.output_item.done",
];
const withTools = { callableTools: [weatherTool], tools: [weatherTool] };

describe("event order", () => {
  it("text: one message item, deltas that join to its text, then completed", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("The capital is Paris."));
    const { events, response } = await fixture.run({});
    expect(types(events)).toEqual([
      "response.created",
      "response.in_progress",
      ...MESSAGE_START,
      ...Array(4).fill("response.output_text.delta"),
      ...MESSAGE_END,
      "response.completed",
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, idx) => idx));
    const deltas = events.flatMap((event) => ("delta" in event ? [event.delta] : []));
    expect(deltas.join("")).toBe("The capital is Paris.");
    expect(response.output).toEqual([
      {
        id: expect.stringMatching(/^msg_[\w-]{16,}$/),
        type: "message",
        role: "assistant",
        status: "completed",
        content: [
          { type: "output_text", text: "The capital is Paris.", annotations: [], logprobs: [] },
        ],
      },
    ]);
    expect(events.at(-1)).toMatchObject({ response });
  });

  it("text: an item keeps its id from added to the final output", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("Hello there"));
    const { events, response } = await fixture.run({});
    const ids = events.flatMap((event) => {
      if ("item_id" in event) return [event.item_id];
      return "item" in event ? [event.item.id] : [];
    });
    expect(new Set(ids)).toEqual(new Set([response.output[0]?.id]));
  });

  it("function calls: one block a call, ids kept, arguments joined", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(
      calls(
        { name: "get_weather", arguments: ['{"city":', '"Oslo"}'] },
        { name: "get_weather", arguments: ['{"city":"Rome"}'] },
      ),
    );
    const { events, response } = await fixture.run(withTools);
    expect(types(events)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed",
    ]);
    const added = events[2];
    expect(added).toMatchObject({
      output_index: 0,
      item: { type: "function_call", status: "in_progress", name: "get_weather", arguments: "" },
    });
    expect(response.output).toMatchObject([
      { arguments: '{"city":"Oslo"}', status: "completed", id: expect.stringMatching(/^fc_/) },
      { arguments: '{"city":"Rome"}', call_id: expect.stringMatching(/^call_[\w-]{16,}$/) },
    ]);
    const callIds = response.output.map((item) => "call_id" in item && item.call_id);
    expect(new Set(callIds).size).toBe(2);
  });

  it("a free-form tool: its text streams out of the arguments and is JSON again in the history", async () => {
    const fixture = createFixture();
    const pieces = ['{"input": "*** Begin', ' \\"a\\"\\n"', "}"];
    fixture.endpoint.script.push(calls({ name: "patch", arguments: pieces }), says("Done."));
    const custom = {
      type: "custom",
      name: "patch",
      description: null,
      format: { type: "text" },
      path: "tools[0]",
    } as const;
    const request = { callableTools: [custom], tools: [custom], store: true };
    const { events, response } = await fixture.run(request);
    expect(types(events)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.custom_tool_call_input.delta",
      "response.custom_tool_call_input.delta",
      "response.custom_tool_call_input.done",
      "response.output_item.done",
      "response.completed",
    ]);
    const call = { type: "custom_tool_call", name: "patch", status: "completed" };
    expect(response.output).toMatchObject([{ ...call, input: '*** Begin "a"\n' }]);
    const [item] = response.output;
    const callId = item && "call_id" in item ? item.call_id : "";
    const input = [{ type: "function_call_output", call_id: callId, output: "ok" }] as const;
    const next = await fixture.run({ ...request, input, previousResponseId: response.id });
    expect(next.response.status).toBe("completed");
  });

  it("a comment before a call is a message of its own, blank text is none", async () => {
    const fixture = createFixture();
    const [call] = [calls({ name: "get_weather", arguments: ["{}"] })];
    fixture.endpoint.script.push(
      { steps: [[{ type: "text", delta: "I look." }], ...(call.steps ?? [])] },
      { steps: [[{ type: "text", delta: "\n \n" }], ...(call.steps ?? [])] },
    );
    const commented = await fixture.run(withTools);
    expect(commented.response.output.map((item) => item.type)).toEqual([
      "message",
      "function_call",
    ]);
    const blank = await fixture.run(withTools);
    expect(blank.response.output.map((item) => item.type)).toEqual(["function_call"]);
    expect(blank.events[2]).toMatchObject({ type: "response.output_item.added", output_index: 0 });
  });

  it("leading blanks of a text are kept", async () => {
    const fixture = createFixture();
    const steps = ["\n", " ", "Yes"].map((delta) => [{ type: "text" as const, delta }]);
    fixture.endpoint.script.push({ steps });
    const { response } = await fixture.run({});
    expect(response.output[0]).toMatchObject({ content: [{ text: "\n Yes" }] });
  });

  it("a model that says nothing gives an empty message", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push({ steps: [] });
    const { events, response } = await fixture.run({});
    expect(response.output[0]).toMatchObject({ type: "message", content: [{ text: "" }] });
    expect(types(events).slice(2)).toEqual([
      ...MESSAGE_START,
      ...MESSAGE_END,
      "response.completed",
    ]);
  });

  it("token cap: what is open closes as it stands, status incomplete", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("One two", { finish: "length", tokens: [50, 51, 52] }));
    const { events, response } = await fixture.run({ maxOutputTokens: 3 });
    expect(types(events).slice(-4)).toEqual([...MESSAGE_END, "response.incomplete"]);
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      completed_at: null,
      output: [{ status: "incomplete", content: [{ text: "One two" }] }],
      usage: { output_tokens: 3 },
    });
  });

  it("token cap: half a call is never done and not in the output", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push({
      steps: [
        [{ type: "call_start", name: "get_weather" }],
        [{ type: "call_arguments", delta: '{"ci' }],
      ],
      finish: "length",
    });
    const { events, response } = await fixture.run(withTools);
    expect(types(events)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.incomplete",
    ]);
    expect(response.output).toEqual([]);
  });

  it("warmup: created, in_progress, completed with the prompt counted and no output", async () => {
    const fixture = createFixture();
    const { events, response } = await fixture.run({ generate: false });
    expect(types(events)).toEqual([
      "response.created",
      "response.in_progress",
      "response.completed",
    ]);
    expect(response.output).toEqual([]);
    expect(response.usage?.output_tokens).toBe(0);
    expect(response.usage?.input_tokens).toBeGreaterThan(0);
  });
});

describe("response object", () => {
  it("says the same of its request in every state", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("Hi"));
    const { events } = await fixture.run({
      instructions: "Be brief.",
      tools: [weatherTool],
      callableTools: [weatherTool],
      temperature: 0,
      metadata: { run: "7" },
      echo: { reasoning: { effort: "low" }, user: "u1", tool_choice: "auto" },
    });
    const objects = events.flatMap((event) => ("response" in event ? [event.response] : []));
    expect(objects).toHaveLength(3);
    for (const response of objects) {
      expect(response).toMatchObject({
        id: expect.stringMatching(/^resp_[\w-]{16,}$/),
        object: "response",
        instructions: "Be brief.",
        tools: [weatherTool],
        temperature: 0,
        top_p: 1,
        metadata: { run: "7" },
        reasoning: { effort: "low", summary: null },
        text: { format: { type: "text" }, verbosity: "medium" },
        user: "u1",
        model: "fake-model",
      });
    }
    expect(objects.map((response) => response.status)).toEqual([
      "in_progress",
      "in_progress",
      "completed",
    ]);
  });

  it("does not echo instructions and tools on WebSocket", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("Hi"));
    const { response } = await fixture
      .connect()
      .run({ instructions: "Be brief.", tools: [weatherTool], callableTools: [weatherTool] });
    expect(response).toMatchObject({ instructions: null, tools: [] });
  });
});
