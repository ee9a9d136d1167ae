import { afterEach, describe, expect, test } from "vitest";
import { begin, callFunction, callItem, emitDelta, end, say, sayScored } from "./fake-session.ts";
import { jsonOf, parseSse, startGateway, type TestGateway } from "./test-gateway.ts";

let server: TestGateway;
afterEach(() => server.gateway.close());

/** The chunks of a stream that ends well. */
async function streamed(body: object) {
  const response = await server.post("/v1/chat/completions", { ...body, stream: true });
  const events = parseSse(await response.text());
  expect(events.at(-1)?.data).toBe("[DONE]");
  return events.slice(0, -1).map(({ data }) => JSON.parse(data));
}

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

  test("log probabilities come with the message and with the chunks of a stream", async () => {
    server = await startGateway();
    server.session.script = (turn) => sayScored(turn, ["Hel", "lo"]);
    const body = { ...chat, logprobs: true };
    const whole = await jsonOf(await server.post("/v1/chat/completions", body));
    const [hel, lo] = ["Hel", "lo"].map((token) => ({
      token,
      bytes: [...Buffer.from(token)],
      logprob: -1,
      top_logprobs: [],
    }));
    expect(whole.choices[0].logprobs).toEqual({ content: [hel, lo], refusal: null });
    const chunks = await streamed(body);
    expect(chunks.map(({ choices }) => choices[0].logprobs)).toEqual([
      null,
      { content: [hel], refusal: null },
      { content: [lo], refusal: null },
      null,
    ]);
  });

  test("several choices are turns of their own seeds; their usage counts the prompt once", async () => {
    server = await startGateway();
    server.session.script = (turn) => say(turn, ["seed ", String(turn.request.seed)]);
    const body = { ...chat, n: 3, seed: 7 };
    const whole = await jsonOf(await server.post("/v1/chat/completions", body));
    const contents = ["seed 7", "seed 8", "seed 9"];
    expect(whole).toMatchObject({
      choices: contents.map((content, index) => ({ index, message: { content } })),
      usage: { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 },
    });
    const chunks = await streamed({ ...body, stream_options: { include_usage: true } });
    const choices = chunks.flatMap((chunk) => chunk.choices);
    expect(
      contents.map((_, index) =>
        choices
          .filter((choice) => choice.index === index)
          .map(({ delta }) => delta.content ?? "")
          .join(""),
      ),
    ).toEqual(contents);
    expect(choices.filter(({ finish_reason }) => finish_reason === "stop")).toHaveLength(3);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 14 } });
  });

  test("calls of several choices are counted a choice", async () => {
    server = await startGateway();
    server.session.script = (turn) => callFunction(turn, "ls", "{}");
    const chunks = await streamed({ ...chat, n: 2 });
    const calls = chunks.flatMap(({ choices: [{ index, delta }] }) =>
      (delta.tool_calls ?? []).map((call: { index: number }) => [index, call.index]),
    );
    expect(calls).toEqual([
      [0, 0],
      [0, 0],
      [1, 0],
      [1, 0],
    ]);
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

  test("the failure of one choice ends the stream and cancels the others", async () => {
    server = await startGateway();
    const error = { code: "server_error", message: "engine stopped" };
    let numCancelled = 0;
    server.session.script = (turn) => {
      begin(turn);
      if (server.session.turns.length === 3) return end(turn, [], { status: "failed", error });
      return new Promise((resolve) => {
        turn.signal.addEventListener("abort", () => {
          numCancelled++;
          emitDelta(turn, "too late");
          resolve({ ...turn.response, status: "cancelled" });
        });
      });
    };
    const body = { ...chat, n: 3, stream: true };
    const text = await (await server.post("/v1/chat/completions", body)).text();
    expect(JSON.parse(parseSse(text).at(-1)?.data ?? "").error).toMatchObject(error);
    expect(numCancelled).toBe(2);
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
