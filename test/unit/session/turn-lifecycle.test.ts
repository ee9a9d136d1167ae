import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../src/base/deferred.ts";
import { EngineError } from "../../../src/engine/endpoint.ts";
import { ApiError } from "../../../src/protocol/api-error.ts";
import type { ResponseEvent } from "../../../src/protocol/responses-types.ts";
import { TemplateError } from "../../../src/text/text-errors.ts";
import {
  calls,
  createFixture,
  says,
  settled,
  userMessage,
  weatherTool,
} from "./session-fixture.ts";

const types = (events: readonly ResponseEvent[]) => events.map((event) => event.type);

async function rejection(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error(`expected an ApiError, got ${String(error)}`);
  return error;
}

describe("waiting", () => {
  it("a request that waits for a slot is queued, kept alive, then in progress", async () => {
    const fixture = createFixture();
    const admission = createDeferred<void>();
    fixture.endpoint.script.push(says("Hi", { isQueued: true, admission: admission.promise }));
    const { events, response } = fixture.start({});
    await settled();
    fixture.clock.advance(12_000);
    fixture.clock.advance(12_000);
    admission.resolve();
    await response;
    expect(types(events).slice(0, 5)).toEqual([
      "response.created",
      "response.queued",
      "keepalive",
      "keepalive",
      "response.in_progress",
    ]);
    const statuses = events.flatMap((event) =>
      "response" in event ? [event.response.status] : [],
    );
    expect(statuses).toEqual(["queued", "queued", "in_progress", "completed"]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, idx) => idx));
  });

  it("keepalives only break silences of 12 s", async () => {
    const fixture = createFixture();
    const computing = createDeferred<void>();
    fixture.endpoint.script.push(says("Hi", { computing: computing.promise }));
    const { events, response } = fixture.start({});
    await settled();
    fixture.clock.advance(11_999);
    expect(types(events)).toEqual(["response.created", "response.in_progress"]);
    fixture.clock.advance(1);
    expect(types(events).at(-1)).toBe("keepalive");
    computing.resolve();
    await response;
    expect(types(events).at(-1)).toBe("response.completed");
    expect(fixture.clock.numTimers).toBe(0);
  });

  it("created goes out although the engine is still silent", async () => {
    const fixture = createFixture();
    const admission = createDeferred<void>();
    fixture.endpoint.script.push(says("Hi", { admission: admission.promise }));
    const { events, response } = fixture.start({});
    await settled();
    expect(events).toEqual([]);
    fixture.clock.advance(1_000);
    expect(types(events)).toEqual(["response.created"]);
    admission.resolve();
    await response;
    expect(types(events).slice(0, 2)).toEqual(["response.created", "response.in_progress"]);
  });
});

describe("cancelling", () => {
  it("aborts the engine and sends nothing more", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const computing = createDeferred<void>();
    fixture.endpoint.script.push(says("Hi", { computing: computing.promise }));
    const abort = new AbortController();
    const { events, response } = fixture.start({}, socket.context, abort.signal);
    await settled();
    abort.abort();
    computing.resolve();
    expect((await response).status).toBe("in_progress");
    expect(types(events)).toEqual(["response.created", "response.in_progress"]);
    expect(fixture.clock.numTimers).toBe(0);
    expect(await fixture.metric("vllm:request_success_total", { finished_reason: "abort" })).toBe(
      1,
    );
  });

  it("keeps what was computed for the next full request", async () => {
    const fixture = createFixture();
    const long = Array.from({ length: 40 }, (_, idx) => `word${idx}`).join(" ");
    const abort = new AbortController();
    const computing = createDeferred<void>();
    fixture.endpoint.script.push(says("Hi", { computing: computing.promise }), says("Hello"));
    const input = [userMessage(long)];
    const { response } = fixture.start({ input }, fixture.connect().context, abort.signal);
    await settled();
    abort.abort();
    computing.resolve();
    await response;
    expect(fixture.endpoint.numLiveSequences).toBe(0);
    const again = await fixture.connect().run({ input });
    expect(again.response.usage?.input_tokens_details.cached_tokens).toBe(80);
  });

  it("is not a failure: the parent stays usable", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    const computing = createDeferred<void>();
    fixture.endpoint.script.push(says("A"), says("B", { computing: computing.promise }), says("C"));
    const parent = await socket.run({});
    const abort = new AbortController();
    const chained = { previousResponseId: parent.response.id };
    const { response } = fixture.start(chained, socket.context, abort.signal);
    await settled();
    abort.abort();
    computing.resolve();
    await response;
    expect((await socket.run(chained)).response.status).toBe("completed");
  });
});

describe("failing", () => {
  it("a full queue is an error before any event", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push({ refuses: new EngineError("ERR_QUEUE_FULL", "queue is full") });
    const { events, response } = fixture.start({});
    const error = await rejection(response);
    expect(error).toMatchObject({ status: 429, body: { code: "rate_limit_exceeded" } });
    expect(error.headers["retry-after"]).toBeDefined();
    expect(events).toEqual([]);
  });

  it("after created it is a failed response with the items that were finished", async () => {
    const fixture = createFixture();
    const failure = new EngineError("ERR_ENGINE_FAILED", "logits are not finite");
    const steps = [
      ...(calls({ name: "get_weather", arguments: ["{}"] }).steps ?? []),
      [{ type: "text" as const, delta: "Half a te" }],
    ];
    fixture.endpoint.script.push({ steps, failsAfterOutput: failure });
    const { events, response } = await fixture.run({ callableTools: [weatherTool] });
    expect(types(events).at(-1)).toBe("response.failed");
    expect(response).toMatchObject({
      status: "failed",
      error: { code: "server_error" },
      output: [{ type: "function_call", status: "completed" }],
    });
    expect(fixture.errors).toEqual([failure]);
    expect(fixture.clock.numTimers).toBe(0);
  });

  it("a prompt that does not fit: created then failed on streams, 400 on plain HTTP", async () => {
    const fixture = createFixture({ contextTokens: 10 });
    const streamed = await fixture.run({});
    expect(types(streamed.events)).toEqual(["response.created", "response.failed"]);
    expect(streamed.response.error?.code).toBe("context_length_exceeded");
    const size = fixture.tokenizer.ids(fixture.tokenizer.encodedTexts[0] ?? "").length;
    expect(streamed.response.error?.message).toContain(String(size));
    expect(streamed.response.error?.message).toContain("10");
    const error = await rejection(fixture.start({}, { transport: "http" }).response);
    expect(error).toMatchObject({ status: 400, body: { code: "context_length_exceeded" } });
    expect(fixture.endpoint.requests).toEqual([]);
  });

  it("so does one that the engine's memory has no room for", async () => {
    const fixture = createFixture();
    const refuses = new EngineError("ERR_CONTEXT_TOO_LONG", "needs 90 blocks, there are 10");
    fixture.endpoint.script.push({ refuses });
    const { events } = await fixture.run({});
    expect(types(events)).toEqual(["response.created", "response.failed"]);
    expect(fixture.errors).toEqual([]);
  });

  it("a turn that the engine aborts by itself fails, it does not fall silent", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("Half", { finish: "aborted" }));
    const { response } = await fixture.run({});
    expect(response).toMatchObject({ status: "failed", error: { code: "server_error" } });
    expect(fixture.errors).toHaveLength(1);
  });

  it("a template that refuses is a 400 with its message", async () => {
    const fixture = createFixture();
    fixture.template.rewrite = () => {
      throw new TemplateError("roles must alternate");
    };
    const error = await rejection(fixture.start({}).response);
    expect(error).toMatchObject({ status: 400, body: { code: "invalid_value", param: "input" } });
    expect(error.message).toContain("roles must alternate");
  });

  it("an output without its call names the item", async () => {
    const fixture = createFixture();
    const output = { type: "function_call_output", call_id: "call_9", output: "x" } as const;
    const error = await rejection(fixture.start({ input: [userMessage("a"), output] }).response);
    expect(error.body).toMatchObject({ code: "invalid_value", param: "input[1].call_id" });
    expect(error.message).toContain("call_9");
  });
});

describe("what the engine is asked", () => {
  it("fills defaults: the rest of the context, neutral sampling, a seed of its own", async () => {
    const fixture = createFixture({ contextTokens: 100 });
    fixture.endpoint.script.push(says("A"), says("B"));
    await fixture.run({});
    await fixture.run({});
    const [first, second] = fixture.endpoint.requests.map(({ request }) => request);
    const promptTokens = fixture.endpoint.requests[0]?.allTokens.length ?? 0;
    expect(first).toMatchObject({
      maxOutputTokens: 100 - promptTokens,
      keepSequence: true,
      prefillOnly: false,
      sampling: { temperature: 1, topP: 1, topK: 0, minP: 0, repetitionPenalty: 1 },
    });
    expect(first).not.toHaveProperty("outputFormat");
    expect(Number.isSafeInteger(first?.sampling.seed)).toBe(true);
    expect(first?.sampling.seed).not.toBe(second?.sampling.seed);
  });

  it("passes on what the request says", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("A"));
    await fixture.run({
      temperature: 0,
      topK: 5,
      seed: 7,
      maxOutputTokens: 3,
      stop: ["\n\n"],
      callableTools: [weatherTool],
      parallelToolCalls: false,
    });
    expect(fixture.endpoint.requests[0]?.request).toMatchObject({
      maxOutputTokens: 3,
      stop: ["\n\n"],
      outputFormat: { calls: { format: "hermes", tools: [{ name: "get_weather" }] } },
      stopAfterCall: false, // the grammar allows one call only
      grammar: expect.stringContaining("get_weather"),
      sampling: { temperature: 0, topK: 5, seed: 7 },
    });
  });

  it("tool_choice none keeps the prompt and parses no calls", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("A"), says("B"));
    await fixture.run({ callableTools: [weatherTool] });
    await fixture.run({ callableTools: [weatherTool], toolChoice: { mode: "none" } });
    const [auto, none] = fixture.endpoint.requests;
    expect(none?.allTokens).toEqual(auto?.allTokens);
    expect(none?.request).not.toHaveProperty("outputFormat");
  });
});
