import { afterEach, describe, expect, test } from "vitest";
import { begin, callFunction, callItem, emitDelta, end } from "./fake-session.ts";
import { jsonOf, parseSse, startGateway, type TestGateway } from "./test-gateway.ts";

let server: TestGateway;
afterEach(() => server.gateway.close());

const chat = { model: "fake-model", messages: [{ role: "user", content: "hi" }] };

describe("chat completions", () => {
  test("a text answer", async () => {
    server = await startGateway();
    const completion = await jsonOf(await server.post("/v1/chat/completions", chat));
    expect(completion).toMatchObject({
      object: "chat.completion",
      model: "fake-model",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello there", refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: 5,
        completion_tokens: 3,
        total_tokens: 8,
        prompt_tokens_details: { cached_tokens: 2 },
      },
    });
    expect(completion.id).toMatch(/^chatcmpl-.{16,}/);
  });

  test("a streamed answer has a role, contents, a finish and [DONE], under one id", async () => {
    server = await startGateway();
    const response = await server.post("/v1/chat/completions", { ...chat, stream: true });
    const events = parseSse(await response.text());
    expect(events.every(({ event }) => event === undefined)).toBe(true);
    expect(events.at(-1)?.data).toBe("[DONE]");
    const chunks = events.slice(0, -1).map(({ data }) => JSON.parse(data));
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
    expect(chunks.map((chunk) => chunk.choices[0].delta)).toEqual([
      { role: "assistant", content: "" },
      { content: "Hello" },
      { content: " there" },
      {},
    ]);
    expect(chunks.map((chunk) => chunk.choices[0].finish_reason)).toEqual([
      null,
      null,
      null,
      "stop",
    ]);
    expect(chunks.some((chunk) => "usage" in chunk)).toBe(false);
  });

  test("include_usage adds one last chunk and usage:null before it", async () => {
    server = await startGateway();
    const body = { ...chat, stream: true, stream_options: { include_usage: true } };
    const events = parseSse(await (await server.post("/v1/chat/completions", body)).text());
    const chunks = events.slice(0, -1).map(({ data }) => JSON.parse(data));
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 8 } });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  });

  test("a call is equal streamed and unstreamed", async () => {
    server = await startGateway();
    server.session.script = (turn) => callFunction(turn, "ls", '{"dir":"."}');
    const whole = await jsonOf(await server.post("/v1/chat/completions", chat));
    const call = {
      id: "call_1",
      type: "function",
      function: { name: "ls", arguments: '{"dir":"."}' },
    };
    expect(whole.choices[0]).toMatchObject({
      message: { content: null, tool_calls: [call] },
      finish_reason: "tool_calls",
    });
    const text = await (
      await server.post("/v1/chat/completions", { ...chat, stream: true })
    ).text();
    const chunks = parseSse(text)
      .slice(0, -1)
      .map(({ data }) => JSON.parse(data));
    const pieces = chunks.flatMap((chunk) => chunk.choices[0].delta.tool_calls ?? []);
    expect(pieces).toEqual([
      { index: 0, id: "call_1", type: "function", function: { name: "ls", arguments: "" } },
      { index: 0, function: { arguments: '{"dir":"."}' } },
    ]);
    expect(chunks.at(-1).choices[0].finish_reason).toBe("tool_calls");
  });

  test("a call that the token cap cut is never delivered", async () => {
    server = await startGateway();
    server.session.script = (turn) => {
      begin(turn);
      const item = { ...callItem(""), status: "in_progress" as const };
      turn.emit({ type: "response.output_item.added", output_index: 0, item });
      const incomplete_details = { reason: "max_output_tokens" };
      return end(turn, [], { status: "incomplete", incomplete_details });
    };
    const text = await (
      await server.post("/v1/chat/completions", { ...chat, stream: true })
    ).text();
    expect(text).not.toContain("tool_calls");
    expect(text).toContain('"finish_reason":"length"');
  });

  test("a failure in mid-stream is an error event", async () => {
    server = await startGateway();
    const error = { code: "server_error", message: "engine stopped" };
    server.session.script = (turn) => {
      begin(turn);
      emitDelta(turn, "Hel");
      return end(turn, [], { status: "failed", error });
    };
    const text = await (
      await server.post("/v1/chat/completions", { ...chat, stream: true })
    ).text();
    expect(JSON.parse(parseSse(text).at(-1)?.data ?? "").error).toMatchObject(error);
    expect(text).not.toContain("[DONE]");
  });

  test("silence is broken by comment lines", async () => {
    server = await startGateway({ limits: { keepaliveMs: 5 } });
    server.session.script = (turn) => {
      begin(turn);
      return new Promise((resolve) => {
        turn.signal.addEventListener("abort", () => resolve(turn.response));
      });
    };
    const client = new AbortController();
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...chat, stream: true }),
      signal: client.signal,
    });
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.split(": keepalive\n\n").length > 2) break;
    }
    expect(text).toContain('"role":"assistant"');
    client.abort();
  });
});
