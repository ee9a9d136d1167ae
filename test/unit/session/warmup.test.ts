import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../src/base/deferred.ts";
import { EngineError } from "../../../src/engine/endpoint.ts";
import type { InputItem } from "../../../src/protocol/responses-types.ts";
import { createFixture, says, settled, userMessage, weatherTool } from "./session-fixture.ts";

const base: InputItem = {
  type: "message",
  role: "developer",
  content: [{ type: "input_text", text: "You are a coding agent with many many rules." }],
};

describe("warmup", () => {
  it("completes before its prefill ends; the next turn joins it", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const computing = createDeferred<void>();
    fixture.endpoint.script.push({ computing: computing.promise }, says("Hi"));
    const warmup = await socket.run({ input: [base], generate: false });
    const next = fixture.start({ previousResponseId: warmup.response.id }, socket.context);
    await settled();
    expect(fixture.endpoint.requests).toHaveLength(1);
    fixture.clock.advance(1_000);
    expect(next.events.map((event) => event.type)).toEqual(["response.created"]);
    computing.resolve();
    const response = await next.response;
    const [warm, joined] = fixture.endpoint.requests;
    expect(warm?.request).toMatchObject({ prefillOnly: true, keepSequence: true });
    expect(joined?.request.continueFrom).toBeDefined();
    expect(response.usage?.input_tokens_details).toEqual({
      cached_tokens: warm?.allTokens.length,
      cache_write_tokens: 0,
    });
  });

  it("renders no generation prompt, so that the next items stand right behind it", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push({}, says("Hi"));
    const warmup = await socket.run({ input: [base], generate: false });
    await socket.run({ input: [userMessage("Go")], previousResponseId: warmup.response.id });
    const texts = fixture.tokenizer.encodedTexts;
    expect(texts[0]).not.toContain("assistant");
    expect(texts[1]).toBe("<|im_start|>user\nGo<|im_end|>\n<|im_start|>assistant\n");
  });

  it("keeps its prefill when the socket goes away, for who sends the same again", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const computing = createDeferred<void>();
    fixture.endpoint.script.push({ computing: computing.promise }, says("Hi"));
    const abort = new AbortController();
    const request = { input: [base], generate: false };
    await fixture.start(request, socket.context, abort.signal).response;
    abort.abort();
    socket.connection.close();
    computing.resolve();
    await settled();
    expect(fixture.endpoint.numLiveSequences).toBe(1);
    const again = await fixture.connect().run({ input: [base, userMessage("Go")] });
    expect(again.response.usage?.input_tokens_details.cached_tokens).toBe(22);
    expect(await fixture.metric("vllm:request_success_total", { finished_reason: "abort" })).toBe(
      0,
    );
  });

  it("an empty one is legal and computes nothing", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("Hi"));
    const warmup = await socket.run({
      input: [],
      callableTools: [weatherTool],
      generate: false,
    });
    expect(warmup.response).toMatchObject({ status: "completed", usage: { input_tokens: 0 } });
    const next = await socket.run({ previousResponseId: warmup.response.id });
    expect(next.response.status).toBe("completed");
    expect(fixture.endpoint.requests).toHaveLength(1);
  });

  it("when its prefill fails the next turn submits everything", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const computing = createDeferred<void>();
    const failure = new EngineError("ERR_ENGINE_FAILED", "broken");
    fixture.endpoint.script.push(
      { computing: computing.promise.then(() => Promise.reject(failure)) },
      says("Hi"),
    );
    const warmup = await socket.run({ input: [base], generate: false });
    computing.resolve();
    const next = await socket.run({ previousResponseId: warmup.response.id });
    expect(next.response.status).toBe("completed");
    expect(fixture.endpoint.requests[1]?.request.continueFrom).toBeUndefined();
    expect(fixture.errors).toEqual([failure]);
  });

  it("that a shutdown ends is no failure to report", async () => {
    const fixture = createFixture();
    const computing = createDeferred<void>();
    const closed = new EngineError("ERR_ENGINE_CLOSED", "the engine is closed");
    fixture.endpoint.script.push({
      computing: computing.promise.then(() => Promise.reject(closed)),
    });
    await fixture.run({ input: [base], generate: false });
    await fixture.session.close();
    computing.resolve();
    await settled();
    expect(fixture.errors).toEqual([]);
    expect(await fixture.metric("vllm:request_success_total", { finished_reason: "abort" })).toBe(
      1,
    );
  });

  it("that the engine has no room for is created and failed", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push({ refuses: new EngineError("ERR_CONTEXT_TOO_LONG", "no room") });
    const { events } = await fixture.run({ generate: false });
    expect(events.map((event) => event.type)).toEqual(["response.created", "response.failed"]);
  });

  it("that the engine refuses at once is an error", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push({ refuses: new EngineError("ERR_QUEUE_FULL", "full") });
    await expect(fixture.run({ generate: false })).rejects.toMatchObject({ status: 429 });
  });
});
