/** Tools that are defined in the conversation instead of the request. */
import { describe, expect, it } from "vitest";
import { parseResponsesRequest } from "../../../src/protocol/responses-request.ts";
import type { ResponsesRequest } from "../../../src/protocol/responses-types.ts";
import { calls, createFixture, type Fixture, says } from "./session-fixture.ts";

function requestOf(fields: Readonly<Record<string, unknown>>): ResponsesRequest {
  return parseResponsesRequest({ model: "m", input: "go", store: false, ...fields }, "ws");
}

const fn = (name: string, fields: object = {}) => ({ type: "function", name, ...fields });
const addTools = (...tools: object[]) => ({
  type: "additional_tools",
  role: "developer",
  tools,
});
const user = (content: string) => ({ role: "user", content });
const developer = (content: string) => ({ role: "developer", content });

function lastRequest({ endpoint, tokenizer }: Fixture) {
  const { request, allTokens } = endpoint.requests.at(-1) ?? {};
  if (!request || !allTokens) throw new TypeError("nothing was submitted");
  const tools = request.outputFormat?.calls?.tools ?? [];
  return {
    prompt: tokenizer.textOf(Int32Array.from(allTokens)),
    names: tools.map(({ name }) => name),
    grammar: request.grammar ?? "",
  };
}

describe("additional_tools in front", () => {
  it("belong to the head: the prompt is that of a request that has them as its tools", async () => {
    const [inRequest, inItem, inChain] = [createFixture(), createFixture(), createFixture()];
    const input = [developer("Be brief."), user("go")];
    await inRequest.run(requestOf({ tools: [fn("ls"), fn("cat")], input }));
    await inItem.run(requestOf({ tools: [fn("ls")], input: [addTools(fn("cat")), ...input] }));
    const socket = inChain.connect();
    const warm = await socket.run(requestOf({ input: [], generate: false }));
    await socket.run(
      requestOf({
        previous_response_id: warm.response.id,
        input: [addTools(fn("ls"), fn("cat")), ...input],
      }),
    );
    expect(lastRequest(inItem)).toEqual(lastRequest(inRequest));
    expect(lastRequest(inChain)).toEqual(lastRequest(inRequest));
    expect(lastRequest(inItem).names).toEqual(["ls", "cat"]);
    expect(lastRequest(inItem).prompt).toContain("<|im_start|>system\nBe brief.<|im_end|>");
  });

  it("stay through a chain that sends no tools again", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("Yes."), says("No."));
    const { response } = await socket.run(
      requestOf({ input: [addTools(fn("ls")), developer("Be brief."), user("go")] }),
    );
    const next = requestOf({ previous_response_id: response.id, input: [user("on")] });
    const { response: second } = await socket.run(next);
    expect(lastRequest(fixture).names).toEqual(["ls"]);
    expect(second.usage?.input_tokens_details.miss_reason).toBeUndefined();
  });
});

describe("additional_tools behind other items", () => {
  it("are a developer message in place, and everything in front of it stays computed", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("Yes."), says("No."));
    const tools = [fn("ls", { description: "Lists" })];
    const { response } = await socket.run(requestOf({ tools }));
    const member = { type: "namespace", name: "git", tools: [fn("log", { parameters: {} })] };
    const { response: second } = await socket.run(
      requestOf({
        tools,
        previous_response_id: response.id,
        input: [addTools(member, { type: "custom", name: "patch" }), user("on")],
      }),
    );
    const { prompt, names, grammar } = lastRequest(fixture);
    const [head = "", late] = prompt.split("These functions can be called from here on:\n");
    expect(head.endsWith("Yes.<|im_end|>\n<|im_start|>system\n")).toBe(true);
    expect(late?.split("\n").slice(0, 2)).toEqual([
      '{"type":"function","function":{"name":"git__log","parameters":{}}}',
      expect.stringMatching(
        /^{"type":"function","function":{"name":"patch","parameters":{.*"input"/,
      ),
    ]);
    expect(head).not.toContain("git__log");
    expect(names).toEqual(["ls", "git__log", "patch"]);
    expect(grammar).toContain("git__log");
    const details = second.usage?.input_tokens_details;
    expect(details?.miss_reason).toBeUndefined();
    expect(details?.cached_tokens).toBe((response.usage?.total_tokens ?? 0) - 1);
  });

  it("an empty list says so", async () => {
    const fixture = createFixture();
    await fixture.run(requestOf({ input: [user("a"), addTools(), user("b")] }));
    expect(lastRequest(fixture).prompt).toContain("<|im_start|>system\nNo functions were found.");
    expect(lastRequest(fixture).names).toEqual([]);
  });

  it("the later definition of a name counts, and the earlier text stays", async () => {
    const fixture = createFixture();
    const schema = { type: "object", properties: { path: { type: "string" } } };
    const tools = [fn("ls", { description: "old" })];
    const input = [user("a"), addTools(fn("ls", { description: "new", parameters: schema }))];
    await fixture.run(requestOf({ tools, input }));
    const { prompt, names, grammar } = lastRequest(fixture);
    expect(names).toEqual(["ls"]);
    expect(prompt.indexOf("old")).toBeLessThan(prompt.indexOf("new"));
    expect(prompt.indexOf("old")).toBeGreaterThan(0);
    expect(grammar).toContain("path");
  });

  it("can be chosen; a tool that is nowhere cannot", async () => {
    const fixture = createFixture();
    const input = [user("a"), addTools(fn("ls"))];
    const choose = (name: string) =>
      fixture.run(requestOf({ input, tool_choice: { type: "function", name } }));
    await choose("ls");
    expect(lastRequest(fixture).names).toEqual(["ls"]);
    const refusal = { status: 400, body: { code: "invalid_value", param: "tool_choice" } };
    await expect(choose("cat")).rejects.toMatchObject(refusal);
    const none = fixture.run(requestOf({ tool_choice: "required" }));
    await expect(none).rejects.toMatchObject(refusal);
  });
});

describe("tools to search for", () => {
  const search = { type: "tool_search", execution: "client" };
  const hidden = fn("send_mail", { defer_loading: true });

  it("are hidden until a search has found them, and called from then on", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const tools = [fn("ls"), search, hidden];
    fixture.endpoint.script.push(
      calls({ name: "tool_search", arguments: ['{"query":"mail"}'] }),
      calls({ name: "send_mail", arguments: ["{}"] }),
      says("Sent."),
    );
    const first = await socket.run(requestOf({ tools }));
    expect(lastRequest(fixture).names).toEqual(["ls", "tool_search"]);
    expect(lastRequest(fixture).prompt).not.toContain("send_mail");
    const [call] = first.response.output;
    if (call?.type !== "tool_search_call") throw new TypeError("not a search");
    const found = { type: "tool_search_output", call_id: call.call_id, tools: [hidden] };
    const second = await socket.run(
      requestOf({ tools, previous_response_id: first.response.id, input: [found] }),
    );
    expect(second.response.output).toMatchObject([{ type: "function_call", name: "send_mail" }]);
    expect(lastRequest(fixture).names).toEqual(["ls", "tool_search", "send_mail"]);
    expect(lastRequest(fixture).prompt).toContain(
      "<|im_start|>tool\nThese functions can be called",
    );
    expect(second.response.usage?.input_tokens_details.miss_reason).toBeUndefined();
    // The finding stays in the chain.
    const [mail] = second.response.output;
    const sent = {
      type: "function_call_output",
      call_id: mail?.type === "function_call" && mail.call_id,
      output: "ok",
    };
    await socket.run(requestOf({ tools, previous_response_id: second.response.id, input: [sent] }));
    expect(lastRequest(fixture).names).toEqual(["ls", "tool_search", "send_mail"]);
  });

  it("are shown where nothing can search for them", async () => {
    const fixture = createFixture();
    const served = { type: "tool_search", execution: "server" };
    await fixture.run(requestOf({ tools: [served, hidden] }));
    expect(lastRequest(fixture).names).toEqual(["send_mail"]);
  });

  it("a search that another server made adds its findings in place", async () => {
    const fixture = createFixture();
    const served = { execution: "server", call_id: null, status: "completed" };
    await fixture.run(
      requestOf({
        input: [
          user("a"),
          { ...served, type: "tool_search_call", arguments: { paths: ["send_mail"] } },
          { ...served, type: "tool_search_output", tools: [hidden] },
        ],
      }),
    );
    expect(lastRequest(fixture).names).toEqual(["send_mail"]);
    expect(lastRequest(fixture).prompt).toContain("<|im_start|>system\nThese functions");
  });

  it("the result of a search without its call is refused, by its place in the input", async () => {
    const output = { type: "tool_search_output", call_id: "c", tools: [] };
    const input = [user("a"), { type: "web_search_call" }, output];
    await expect(createFixture().run(requestOf({ input }))).rejects.toMatchObject({
      status: 400,
      body: { code: "invalid_value", param: "input[2].call_id" },
    });
  });
});

describe("a compaction", () => {
  it("keeps what can be called, found tools too, without the search that found them", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const tools = [{ type: "tool_search", execution: "client" }, fn("ls")];
    const search = { type: "tool_search_call", call_id: "call_1", arguments: { query: "cat" } };
    const found = [fn("cat", { defer_loading: true })];
    const output = { type: "tool_search_output", call_id: "call_1", tools: found };
    fixture.endpoint.script.push(says("Yes."), says("They searched."), says("No."));
    const first = await socket.run(requestOf({ tools, input: [user("go"), search, output] }));
    const trigger = [{ type: "compaction_trigger" }];
    const chained = { tools, previous_response_id: first.response.id, input: trigger };
    const { response } = await socket.run(requestOf(chained));
    const next = { tools, previous_response_id: response.id, input: [user("on")] };
    await socket.run(requestOf(next));
    const { names, prompt } = lastRequest(fixture);
    expect(names).toEqual(["tool_search", "ls", "cat"]);
    expect(prompt).toContain("They searched.");
    expect(prompt).not.toContain("call_1");
  });
});
