import { describe, expect, it } from "vitest";
import { ChatChunkEncoder, toChatCompletion } from "../../../src/protocol/chat-response.ts";
import type { ContextItem, InputItem } from "../../../src/protocol/responses-types.ts";
import { toChatMessages } from "../../../src/session/chat-messages.ts";
import { outputToInput } from "../../../src/session/context-items.ts";
import type { OutputEvent } from "../../../src/text/text-types.ts";
import type { ScriptedTurn } from "./fake-endpoint.ts";
import { createFixture, userMessage, weatherTool } from "./session-fixture.ts";

const thinks = (delta: string): OutputEvent => ({ type: "reasoning", delta });
const says = (delta: string): OutputEvent => ({ type: "text", delta });
const CALL: readonly OutputEvent[] = [
  { type: "call_start", name: "get_weather" },
  { type: "call_arguments", delta: "{}" },
  { type: "call_end" },
];

function script(...events: readonly OutputEvent[]): ScriptedTurn {
  return { steps: events.map((event) => [event]), reasoningTokens: 3 };
}

async function runScript(turn: ScriptedTurn) {
  const fixture = createFixture();
  fixture.endpoint.script.push(turn);
  return fixture.run({ callableTools: [weatherTool] });
}

describe("thinking in the output", () => {
  it("is an item of its own in front of what it led to", async () => {
    const { events, response } = await runScript(script(thinks("Hm"), thinks(", so"), says("Yes")));
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.reasoning_text.delta",
      "response.reasoning_text.delta",
      "response.reasoning_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    const [added, part, delta] = events.slice(2);
    expect(added).toMatchObject({
      output_index: 0,
      item: { type: "reasoning", status: "in_progress", summary: [], content: [] },
    });
    expect(part).toMatchObject({ part: { type: "reasoning_text", text: "" } });
    expect(delta).toMatchObject({ content_index: 0, delta: "Hm" });
    expect(response.output).toMatchObject([
      {
        id: expect.stringMatching(/^rs_/),
        type: "reasoning",
        status: "completed",
        summary: [],
        content: [{ type: "reasoning_text", text: "Hm, so" }],
      },
      { type: "message", content: [{ text: "Yes" }] },
    ]);
    expect(response.usage?.output_tokens_details).toEqual({ reasoning_tokens: 3 });
  });

  it("and calls may come in turns", async () => {
    const { response } = await runScript(
      script(thinks("a"), ...CALL, thinks("b"), ...CALL, ...CALL),
    );
    expect(response.output.map(({ type }) => type)).toEqual([
      "reasoning",
      "function_call",
      "reasoning",
      "function_call",
      "function_call",
    ]);
  });

  it("that the token cap cuts is incomplete", async () => {
    const { events, response } = await runScript({ ...script(thinks("a")), finish: "length" });
    expect(response.output).toMatchObject([{ type: "reasoning", status: "incomplete" }]);
    expect(events.at(-1)?.type).toBe("response.incomplete");
  });

  it("has an opaque copy where the request asks for one", async () => {
    const fixture = createFixture();
    const ask = { includesEncryptedReasoning: true, callableTools: [weatherTool] };
    const thinkOf = async (sealed: string, tenant: string) => {
      const input: InputItem[] = [
        userMessage("q"),
        { type: "sealed_reasoning", sealed, summary: "" },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "A" }] },
      ];
      await fixture.run({ ...ask, input }, { tenant });
      return fixture.template.rendersOf("q").at(-1)?.at(-1)?.reasoning_content;
    };
    fixture.endpoint.script.push(script(thinks("naïve 🐚"), says("b")));
    const { response } = await fixture.run(ask);
    const [item] = response.output;
    const blob = (item?.type === "reasoning" && item.encrypted_content) || "";
    expect(await thinkOf(blob, "default")).toBe("naïve 🐚");
    expect(await thinkOf(blob, "another")).toBeUndefined();
    const other = blob[40] === "A" ? "B" : "A";
    const changed = `${blob.slice(0, 40)}${other}${blob.slice(41)}`;
    expect(await thinkOf(changed, "default")).toBeUndefined();
    expect(await thinkOf("gAAAAABo", "default")).toBeUndefined();
  });

  it("is a summary where the server is told so", async () => {
    const fixture = createFixture({ reasoningForm: "summary" });
    fixture.endpoint.script.push(script(thinks("Hm"), thinks(", so"), says("Yes")));
    const { events, response } = await fixture.run({});
    expect(events.slice(2, 9)).toMatchObject([
      {
        type: "response.output_item.added",
        item: { type: "reasoning", status: "in_progress", summary: [] },
      },
      {
        type: "response.reasoning_summary_part.added",
        summary_index: 0,
        part: { type: "summary_text", text: "" },
      },
      { type: "response.reasoning_summary_text.delta", summary_index: 0, delta: "Hm" },
      { type: "response.reasoning_summary_text.delta", output_index: 0, delta: ", so" },
      { type: "response.reasoning_summary_text.done", text: "Hm, so" },
      { type: "response.reasoning_summary_part.done", part: { text: "Hm, so" } },
      { type: "response.output_item.done", item: { status: "completed" } },
    ]);
    const [item] = response.output;
    expect(item).toMatchObject({ summary: [{ type: "summary_text", text: "Hm, so" }] });
    expect(item).not.toHaveProperty("content");
    expect(outputToInput(response.output)[0]).toMatchObject({ type: "reasoning", text: "Hm, so" });
    const completion = toChatCompletion("chatcmpl_1", [response], false);
    expect(completion.choices[0]?.message).toMatchObject({ reasoning_content: "Hm, so" });
  });

  it("is reasoning_content in Chat Completions", async () => {
    const { events, response } = await runScript(script(thinks("a"), thinks("b"), says("c")));
    const completion = toChatCompletion("chatcmpl_1", [response], false);
    expect(completion.choices[0]?.message).toMatchObject({ content: "c", reasoning_content: "ab" });
    const encoder = new ChatChunkEncoder("chatcmpl_1", 1, false);
    const deltas = events
      .flatMap((event) => encoder.encode(event, 0))
      .map((c) => c.choices[0]?.delta);
    expect(deltas).toEqual([
      { role: "assistant", content: "" },
      { reasoning_content: "a" },
      { reasoning_content: "b" },
      { content: "c" },
      {},
    ]);
  });
});

const NO_HEAD = { instructions: null, tools: [] };

describe("thinking in the history", () => {
  const thought = (text: string): ContextItem => ({ type: "reasoning", text });
  const answer: ContextItem = {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "A" }],
  };
  const call = (id: string): ContextItem => ({
    type: "function_call",
    call_id: id,
    name: "f",
    arguments: "{}",
  });
  const output = (id: string): ContextItem => ({
    type: "function_call_output",
    call_id: id,
    output: "r",
  });

  it("stays with the calls of the current turn", () => {
    const items = [
      userMessage("q"),
      thought("a"),
      call("1"),
      call("2"),
      output("1"),
      output("2"),
      thought("b"),
      answer,
      call("3"),
    ];
    expect(toChatMessages(NO_HEAD, items)).toMatchObject([
      { role: "user" },
      { role: "assistant", reasoning_content: "a", tool_calls: [{ id: "1" }, { id: "2" }] },
      { role: "tool" },
      { role: "tool" },
      { role: "assistant", content: "A", reasoning_content: "b", tool_calls: [{ id: "3" }] },
    ]);
  });

  it("is left out in front of the last user message", () => {
    const messages = toChatMessages(NO_HEAD, [
      userMessage("q"),
      thought("a"),
      answer,
      userMessage("r"),
    ]);
    expect(messages.some((message) => "reasoning_content" in message)).toBe(false);
  });

  it("starts a new assistant message between calls", () => {
    const messages = toChatMessages(NO_HEAD, [
      userMessage("q"),
      call("1"),
      thought("b"),
      call("2"),
    ]);
    expect(messages).toMatchObject([
      { role: "user" },
      { tool_calls: [{ id: "1" }] },
      { reasoning_content: "b", tool_calls: [{ id: "2" }] },
    ]);
  });
});
