import { describe, expect, it } from "vitest";
import type { InputItem } from "../../../src/protocol/responses-types.ts";
import type { RenderedText } from "../../../src/text/text-types.ts";
import { END_OF_TEXT, IM_END } from "./fake-text-model.ts";
import { calls, createFixture, says, userMessage, weatherTool } from "./session-fixture.ts";

const turn = (role: string, text: string) => `<|im_start|>${role}\n${text}<|im_end|>\n`;
const GENERATE = "<|im_start|>assistant\n";

describe("continuing on a socket", () => {
  it("submits only the new tokens, and together they are the full re-render", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("Paris."), says("Rome."));
    const first = await socket.run({ input: [userMessage("France?")] });
    const second = await socket.run({
      input: [userMessage("Italy?")],
      previousResponseId: first.response.id,
    });
    const [, continued] = fixture.endpoint.requests;
    const suffix = `\n${turn("user", "Italy?")}${GENERATE}`;
    expect(continued?.request.continueFrom).toBeDefined();
    expect([...(continued?.request.tokens ?? [])]).toEqual([...fixture.tokenizer.ids(suffix)]);
    const whole = turn("user", "France?") + turn("assistant", "Paris.") + turn("user", "Italy?");
    expect(continued?.allTokens).toEqual([...fixture.tokenizer.ids(whole + GENERATE)]);
    const total = continued?.allTokens.length ?? 0;
    expect(second.response.usage).toMatchObject({
      input_tokens: total,
      input_tokens_details: { cached_tokens: total - fixture.tokenizer.ids(suffix).length - 1 },
    });
    expect(second.response.usage?.input_tokens_details).not.toHaveProperty("miss_reason");
    expect(second.response.previous_response_id).toBe(first.response.id);
  });

  it("costs the new items only: tokenizer, prefill and cache counters", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const long = Array.from({ length: 300 }, (_, idx) => `word${idx}`).join(" ");
    fixture.endpoint.script.push(says("One."), says("Two."), says("Three."));
    let previousResponseId: string | null = null;
    const costs: { tokenized: number; prefill: number; cached: number }[] = [];
    for (const input of [long, "next", "next"]) {
      const before = {
        tokenized: await fixture.metric("warmloop_tokenized_tokens_total", { transport: "ws" }),
        prefill: await fixture.metric("warmloop_prefill_tokens_total", { why: "prompt" }),
        cached: await fixture.metric("warmloop_cached_tokens_total", { tier: "live" }),
      };
      const result = await socket.run({ input: [userMessage(input)], previousResponseId });
      previousResponseId = result.response.id;
      costs.push({
        tokenized:
          (await fixture.metric("warmloop_tokenized_tokens_total", { transport: "ws" })) -
          before.tokenized,
        prefill:
          (await fixture.metric("warmloop_prefill_tokens_total", { why: "prompt" })) -
          before.prefill,
        cached:
          (await fixture.metric("warmloop_cached_tokens_total", { tier: "live" })) - before.cached,
      });
    }
    const [first, second, third] = costs;
    const suffixTokens = fixture.tokenizer.ids(`<|im_end|>\n${turn("user", "next")}${GENERATE}`);
    expect(first?.tokenized).toBeGreaterThan(600);
    expect(second?.tokenized).toBe(suffixTokens.length);
    expect(second?.prefill).toBe(suffixTokens.length);
    expect(second?.cached).toBeGreaterThan(600);
    expect(third).toEqual({
      tokenized: suffixTokens.length,
      prefill: suffixTokens.length,
      cached: (second?.cached ?? 0) + suffixTokens.length + 1,
    });
    expect(await fixture.metric("warmloop_cache_miss_total")).toBe(1);
    expect(await fixture.metric("warmloop_cache_miss_total", { reason: "cold" })).toBe(1);
    expect(await fixture.metric("warmloop_rx_bytes_total", { transport: "ws" })).toBe(300);
  });

  it("keeps generated ids, however the tokenizer would spell the text", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const spelled = [fixture.tokenizer.piece("Pa"), fixture.tokenizer.piece("ris."), IM_END];
    fixture.endpoint.script.push(says("Paris.", { tokens: spelled }), says("Rome."));
    const first = await socket.run({});
    await socket.run({ input: [userMessage("Italy?")], previousResponseId: first.response.id });
    const tokens = fixture.endpoint.requests[1]?.allTokens ?? [];
    const start = fixture.endpoint.requests[0]?.allTokens.length ?? 0;
    expect(tokens.slice(start, start + 3)).toEqual(spelled);
    expect(tokens.filter((id) => id === IM_END)).toHaveLength(3);
  });

  it("adds the closing marker when the turn ended without one", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const cut = [...fixture.tokenizer.ids("One two")];
    fixture.endpoint.script.push(says("One two", { tokens: cut, finish: "length" }), says("Ok"));
    const first = await socket.run({ maxOutputTokens: 3 });
    await socket.run({ input: [userMessage("go on")], previousResponseId: first.response.id });
    const [, continued] = fixture.endpoint.requests;
    expect(continued?.request.tokens[0]).toBe(IM_END);
    expect(fixture.tokenizer.textOf(Int32Array.from(continued?.allTokens ?? []))).toContain(
      `One two<|im_end|>\n${turn("user", "go on")}`,
    );
  });

  it("goes on in front of a foreign end token, with the template's marker in its place", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const tokens = [...fixture.tokenizer.ids("Paris."), END_OF_TEXT];
    fixture.endpoint.script.push(says("Paris.", { tokens }), says("Rome."));
    const first = await socket.run({});
    await socket.run({ input: [userMessage("Italy?")], previousResponseId: first.response.id });
    const [whole, second] = fixture.endpoint.requests;
    const numTokens = (whole?.allTokens.length ?? 0) + tokens.length - 1;
    expect(second?.request).toMatchObject({ fork: true, continueFrom: { numTokens } });
    expect(second?.request.tokens[0]).toBe(IM_END);
    expect(second?.allTokens).not.toContain(END_OF_TEXT);
    const { sequenceId } = second?.request.continueFrom ?? {};
    expect(fixture.endpoint.released).toMatchObject([{ sequenceId }]);
    expect(fixture.endpoint.numLiveSequences).toBe(1);
  });

  it("renders calls and their outputs as one assistant turn and its results", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const tools = { callableTools: [weatherTool], tools: [weatherTool] };
    fixture.endpoint.script.push(
      calls(
        { name: "get_weather", arguments: ['{"city": "Oslo"}'] },
        { name: "get_weather", arguments: ['{"city": "Rome"}'] },
      ),
      says("Cold and warm."),
    );
    const first = await socket.run(tools);
    const input = first.response.output.map((item, idx): InputItem => {
      if (item.type !== "function_call") throw new Error("expected calls only");
      return { type: "function_call_output", call_id: item.call_id, output: `${idx} C` };
    });
    const second = await socket.run({ ...tools, input, previousResponseId: first.response.id });
    const [, continued] = fixture.endpoint.requests;
    expect(fixture.tokenizer.textOf(continued?.request.tokens ?? new Int32Array())).toBe(
      `\n${turn("tool", "0 C")}${turn("tool", "1 C")}${GENERATE}`,
    );
    expect(second.response.usage?.input_tokens_details.miss_reason).toBeUndefined();
  });

  it("does not inherit instructions, and says so when they are dropped", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("Yes."), says("No."));
    const first = await socket.run({ instructions: "Answer shortly." });
    const second = await socket.run({
      input: [userMessage("And?")],
      previousResponseId: first.response.id,
    });
    const text = fixture.tokenizer.textOf(
      Int32Array.from(fixture.endpoint.requests[1]?.allTokens ?? []),
    );
    expect(text).not.toContain("shortly");
    expect(second.response.usage?.input_tokens_details.miss_reason).toBe("instructions");
  });

  it.each([true, false])("says when another effort changes the prompt (%s)", async (isShown) => {
    const fixture = createFixture();
    const { render } = fixture.template;
    fixture.template.render = (messages, options) => {
      const text = render.call(fixture.template, messages, options);
      const line = isShown ? `<|im_start|>effort\n${options.reasoningEffort}<|im_end|>\n` : "";
      return `${line}${text}` as RenderedText;
    };
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("Yes."), says("No."));
    const first = await socket.run({ reasoningEffort: "low" });
    const second = await socket.run({
      reasoningEffort: "high",
      previousResponseId: first.response.id,
    });
    const reason = second.response.usage?.input_tokens_details.miss_reason;
    expect(reason).toBe(isShown ? "template" : undefined);
  });

  it("says when the tools changed", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("Yes."), says("No."));
    const first = await socket.run({});
    const second = await socket.run({
      callableTools: [weatherTool],
      previousResponseId: first.response.id,
    });
    expect(second.response.usage?.input_tokens_details.miss_reason).toBe("tools");
    expect(await fixture.metric("warmloop_cache_miss_total", { reason: "tools" })).toBe(1);
  });

  it("re-encodes everything when the template rewrites history", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("Long thought, Paris."), says("Rome."));
    const first = await socket.run({ input: [userMessage("France?")] });
    fixture.template.rewrite = (messages) =>
      messages.map((message, idx) =>
        message.role === "assistant" && idx < messages.length - 1
          ? { ...message, content: "Paris." }
          : message,
      );
    const second = await socket.run({
      input: [userMessage("Italy?")],
      previousResponseId: first.response.id,
    });
    const whole = turn("user", "France?") + turn("assistant", "Paris.") + turn("user", "Italy?");
    expect(fixture.endpoint.requests[1]?.allTokens).toEqual([
      ...fixture.tokenizer.ids(whole + GENERATE),
    ]);
    expect(second.response.usage?.input_tokens_details.miss_reason).toBe("history_rewrite");
    expect(fixture.endpoint.numLiveSequences).toBe(1);
  });

  it("does not continue tokens of a half call that is not in the items", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const tools = { callableTools: [weatherTool] };
    fixture.endpoint.script.push(
      { steps: [[{ type: "call_start", name: "get_weather" }]], tokens: [900], finish: "length" },
      says("Sorry."),
    );
    const first = await socket.run({ ...tools, maxOutputTokens: 1 });
    await socket.run({ ...tools, previousResponseId: first.response.id });
    expect(fixture.endpoint.requests[1]?.allTokens).not.toContain(900);
  });

  it("submits the full list when the engine gave the sequence up", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("Paris."), says("Rome."));
    const first = await socket.run({});
    fixture.endpoint.loseSequences("blocks stay");
    const second = await socket.run({
      input: [userMessage("Italy?")],
      previousResponseId: first.response.id,
    });
    const [, full] = fixture.endpoint.requests;
    expect(full?.request.continueFrom).toBeUndefined();
    expect(full?.request.laneWorkerId).toBe(0);
    expect(second.response.usage?.input_tokens_details.miss_reason).toBe("released");
    expect(second.response.status).toBe("completed");
  });

  it("says evicted when not even the blocks of a stored parent are left", async () => {
    const fixture = createFixture();
    const long = Array.from({ length: 40 }, (_, idx) => `word${idx}`).join(" ");
    fixture.endpoint.script.push(says("Paris.", { dropsSequence: true }), says("Rome."));
    const first = await fixture.run({ input: [userMessage(long)], store: true });
    fixture.endpoint.loseSequences("blocks evicted");
    const second = await fixture.run({ previousResponseId: first.response.id });
    expect(second.response.usage?.input_tokens_details).toMatchObject({
      cached_tokens: 0,
      miss_reason: "evicted",
    });
  });
});

describe("first turns", () => {
  it("the same first turn of a second task is not tokenised again", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("A"), says("B"), says("C"));
    await fixture.run({});
    const numTokenized = await fixture.metric("warmloop_tokenized_tokens_total");
    const again = await fixture.run({});
    expect(await fixture.metric("warmloop_tokenized_tokens_total")).toBe(numTokenized);
    expect(again.response.usage?.input_tokens_details.miss_reason).toBeUndefined();
    await fixture.run({}, { tenant: "other" });
    expect(await fixture.metric("warmloop_tokenized_tokens_total")).toBe(2 * numTokenized);
  });

  it("a second task with the same instructions and tools tokenises its own words only", async () => {
    const fixture = createFixture();
    const head = { instructions: "Long rules for all tasks.", callableTools: [weatherTool] };
    fixture.endpoint.script.push(says("A"), says("B"));
    await fixture.run({ ...head, input: [userMessage("first")] });
    const before = await fixture.metric("warmloop_tokenized_tokens_total");
    await fixture.run({ ...head, input: [userMessage("second")] });
    const own = fixture.tokenizer.ids(turn("user", "second") + GENERATE);
    expect((await fixture.metric("warmloop_tokenized_tokens_total")) - before).toBe(own.length);
    const [first, second] = fixture.endpoint.requests.map(({ request }) =>
      fixture.tokenizer.textOf(request.tokens),
    );
    expect(second).toBe(first?.replace("first", "second"));
  });

  it("joins instructions with a leading developer message, later ones stay in place", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("A"));
    const developer = (text: string): InputItem => ({
      type: "message",
      role: "developer",
      content: [{ type: "input_text", text }],
    });
    await fixture.run({
      instructions: "One.",
      input: [developer("Two."), developer("Three."), userMessage("Hi")],
    });
    const [request] = fixture.endpoint.requests;
    expect(fixture.tokenizer.textOf(request?.request.tokens ?? new Int32Array())).toBe(
      turn("system", "One.\n\nTwo.") + turn("system", "Three.") + turn("user", "Hi") + GENERATE,
    );
  });

  it("markers in what a client wrote do not become control tokens", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("A"));
    await fixture.run({ input: [userMessage("a <|im_end|> b")] });
    const tokens = fixture.endpoint.requests[0]?.allTokens ?? [];
    expect(tokens.filter((id) => id === IM_END)).toHaveLength(1);
  });
});
