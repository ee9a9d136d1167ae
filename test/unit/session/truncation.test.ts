import { describe, expect, it } from "vitest";
import type { ContextItem } from "../../../src/protocol/responses-types.ts";
import { createFixture, type Fixture, says, userMessage, weatherTool } from "./session-fixture.ts";

const words = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${index}`).join(" ");

const message = (role: "assistant" | "developer", text: string): ContextItem => ({
  type: "message",
  role,
  content: [{ type: "output_text", text }],
});

const call = (call_id: string): ContextItem => ({
  type: "function_call",
  call_id,
  name: "look",
  arguments: "{}",
});

const output = (call_id: string, text: string): ContextItem => ({
  type: "function_call_output",
  call_id,
  output: text,
});

function promptOf(fixture: Fixture, index = 0): string {
  const tokens = fixture.endpoint.requests[index]?.allTokens ?? [];
  return fixture.tokenizer.textOf(Int32Array.from(tokens));
}

describe("truncation", () => {
  it("auto drops the oldest items until the prompt fits, and keeps the head", async () => {
    const fixture = createFixture({ contextTokens: 200 });
    fixture.endpoint.script.push(says("ok"), says("ok"));
    const { response } = await fixture.run({
      truncation: "auto",
      store: true,
      instructions: "Be brief.",
      input: [
        message("developer", "The rules."),
        userMessage(words("old", 60)),
        message("assistant", words("said", 30)),
        userMessage("the question"),
      ],
    });
    expect(response).toMatchObject({ status: "completed", truncation: "auto" });
    const prompt = promptOf(fixture);
    expect(prompt).toContain("Be brief.");
    expect(prompt).toContain("The rules.");
    expect(prompt).toContain("the question");
    expect(prompt).not.toMatch(/old0|said0/);
    await fixture.run({ previousResponseId: response.id, input: [userMessage("and then?")] });
    expect(promptOf(fixture, 1)).not.toContain("old0");
  });

  it("auto keeps a call together with its output", async () => {
    const fixture = createFixture({ contextTokens: 200 });
    fixture.endpoint.script.push(says("ok"));
    await fixture.run({
      truncation: "auto",
      input: [
        userMessage("start"),
        call("call_old"),
        call("call_late"),
        output("call_old", words("old", 60)),
        output("call_late", words("late", 20)),
        message("assistant", "done"),
      ],
    });
    const prompt = promptOf(fixture);
    const numCalls = prompt.split("<tool_call>").length - 1;
    const numOutputs = prompt.split("<|im_start|>tool").length - 1;
    expect(numCalls).toBe(numOutputs);
    expect(prompt).not.toContain("old0");
    expect(prompt).toContain("done");
  });

  it("auto keeps the tools that a search found, without the search", async () => {
    const fixture = createFixture({ contextTokens: 200 });
    fixture.endpoint.script.push(says("ok"), says("ok"));
    const found = { ...weatherTool, name: "found_tool", isDeferred: true } as const;
    const { response } = await fixture.run({
      truncation: "auto",
      store: true,
      callableTools: [{ ...weatherTool, type: "tool_search", name: "tool_search" }],
      input: [
        {
          type: "function_call",
          call_id: "call_search",
          name: "tool_search",
          arguments: words("query", 40),
        },
        { type: "tool_search_output", call_id: "call_search", tools: [found] },
        userMessage(words("old", 100)),
        message("assistant", "done"),
        userMessage("the question"),
      ],
    });
    expect(response.status).toBe("completed");
    const prompt = promptOf(fixture);
    expect(prompt).not.toMatch(/query0|old0/);
    expect(prompt.split("found_tool")).toHaveLength(2);
    await fixture.run({
      previousResponseId: response.id,
      toolChoice: { mode: "auto", named: [{ type: "function", name: "found_tool" }] },
    });
    expect(promptOf(fixture, 1).split("found_tool")).toHaveLength(2);
  });

  it("auto cannot help a last item that is too long, disabled never drops", async () => {
    const fixture = createFixture({ contextTokens: 200 });
    const input = [userMessage("first"), userMessage(words("long", 150))];
    for (const truncation of ["auto", "disabled"] as const) {
      const { response } = await fixture.run({ truncation, input });
      expect(response.error?.code).toBe("context_length_exceeded");
    }
  });
});

describe("references to items", () => {
  it("stand for items of stored responses, of the socket and of the conversation itself", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("first answer"), says("second answer"), says("ok"));
    const stored = await fixture.run({ store: true });
    const socket = fixture.connect();
    const cached = await socket.run({ store: false });
    const ids = [stored, cached].map(({ response }) => response.output[0]?.id ?? "");
    const references = ids.map((id, index) => {
      return { type: "item_reference", id, path: `input[${index}]` } as const;
    });
    await socket.run({ input: [userMessage("compare"), ...references] });
    const prompt = promptOf(fixture, 2);
    expect(prompt).toContain("first answer");
    expect(prompt).toContain("second answer");
    const again = await socket.run({
      previousResponseId: cached.response.id,
      input: [...references.slice(1), userMessage("go on")],
    });
    expect(again.response.status).toBe("completed");
    expect(promptOf(fixture, 3).split("second answer")).toHaveLength(2);
  });

  it("to unknown items and to those of another tenant are refused", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("an answer"));
    const { response } = await fixture.run({ store: true }, { tenant: "a" });
    for (const id of [response.output[0]?.id ?? "", "msg_unknown"]) {
      const input = [{ type: "item_reference", id, path: "input[0]" } as const];
      await expect(fixture.run({ input }, { tenant: "b" })).rejects.toMatchObject({
        status: 400,
        body: { code: "item_not_found", param: "input[0]" },
      });
    }
  });
});
