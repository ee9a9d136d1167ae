import { afterEach, expect, test } from "vitest";
import { engineApiError } from "../../../src/protocol/engine-error-map.ts";
import {
  begin,
  emitDelta,
  end,
  type FakeTurn,
  messageItem,
  say,
  sayScored,
} from "./fake-session.ts";
import { jsonOf, parseSse, startGateway, type TestGateway } from "./test-gateway.ts";

let server: TestGateway;
afterEach(() => server.gateway.close());

const body = { model: "fake-model", prompt: "One" };

async function post(fields: object = {}): Promise<Response> {
  return server.post("/v1/completions", { ...body, ...fields });
}

async function chunksOf(response: Response) {
  const events = parseSse(await response.text());
  expect(events.every(({ event }) => event === undefined)).toBe(true);
  return events.map(({ data }) => (data === "[DONE]" ? data : JSON.parse(data)));
}

/** What the model says depends on the prompt. */
function sayPrompt(turn: FakeTurn) {
  const prompt = turn.completion?.prompt;
  return say(turn, ["after ", prompt && "text" in prompt ? prompt.text : "ids"]);
}

test("a text answer", async () => {
  server = await startGateway();
  const completion = await (await post()).json();
  expect(completion).toEqual({
    id: expect.stringMatching(/^cmpl-.{16,}/),
    object: "text_completion",
    created: 1_700_000_000,
    model: "fake-model",
    choices: [{ index: 0, text: "Hello there", logprobs: null, finish_reason: "stop" }],
    usage: {
      prompt_tokens: 5,
      completion_tokens: 3,
      total_tokens: 8,
      prompt_tokens_details: { cached_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    system_fingerprint: "fp_warmloop",
  });
  expect(server.session.turns[0]).toMatchObject({
    completion: { prompt: { text: "One" }, echo: false },
    context: { transport: "http", tenant: "default" },
  });
});

test("several prompts are several choices, with the usage of all; bytes count once", async () => {
  server = await startGateway();
  server.session.script = sayPrompt;
  const prompt = ["One", "Two"];
  const completion = await (await post({ prompt })).json();
  expect(completion).toMatchObject({
    choices: [
      { index: 0, text: "after One" },
      { index: 1, text: "after Two" },
    ],
    usage: { prompt_tokens: 10, total_tokens: 16, prompt_tokens_details: { cached_tokens: 4 } },
  });
  expect(server.session.turns.map(({ context }) => context.receivedBytes)).toEqual([
    JSON.stringify({ ...body, prompt }).length,
    0,
  ]);
});

test("a streamed answer has texts, a finish and [DONE], under one id", async () => {
  server = await startGateway();
  const response = await post({ stream: true });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const chunks = await chunksOf(response);
  expect(chunks.at(-1)).toBe("[DONE]");
  const [first, ...others] = chunks.slice(0, -1);
  expect(others.every(({ id }) => id === first.id)).toBe(true);
  expect(chunks.slice(0, -1).map(({ choices }) => choices)).toEqual(
    [
      ["", null],
      ["Hello", null],
      [" there", null],
      ["", "stop"],
    ].map(([text, finish_reason]) => [{ index: 0, text, logprobs: null, finish_reason }]),
  );
  expect(chunks.some((chunk) => Object.hasOwn(chunk, "usage"))).toBe(false);
});

test("streams of several prompts end once, with one usage chunk", async () => {
  server = await startGateway();
  server.session.script = sayPrompt;
  const chunks = await chunksOf(
    await post({ prompt: ["One", [7]], stream: true, stream_options: { include_usage: true } }),
  );
  expect(chunks.filter((chunk) => chunk === "[DONE]")).toHaveLength(1);
  expect(chunks.at(-2)).toMatchObject({ choices: [], usage: { total_tokens: 16 } });
  const textOf = (index: number) =>
    chunks
      .slice(0, -1)
      .flatMap(({ choices }) => choices)
      .map((choice) => (choice.index === index ? choice.text : ""))
      .join("");
  expect([textOf(0), textOf(1)]).toEqual(["after One", "after ids"]);
});

test("choices of several prompts follow each other; each prompt counts once", async () => {
  server = await startGateway();
  server.session.script = (turn) => say(turn, [`${turn.request.seed}`]);
  const fields = { prompt: ["One", "Two"], n: 2, seed: 4 };
  const completion = await (await post(fields)).json();
  expect(completion).toMatchObject({
    choices: ["4", "5", "4", "5"].map((text, index) => ({ index, text })),
    usage: {
      prompt_tokens: 10,
      completion_tokens: 12,
      prompt_tokens_details: { cached_tokens: 4 },
    },
  });
  const chunks = await chunksOf(
    await post({ ...fields, stream: true, stream_options: { include_usage: true } }),
  );
  expect(chunks.at(-2)).toMatchObject({ choices: [], usage: { total_tokens: 22 } });
  const texts = chunks
    .slice(0, -2)
    .flatMap(({ choices: [{ index, text }] }) => (text ? [[index, text]] : []));
  expect(texts).toEqual([
    [0, "4"],
    [1, "5"],
    [2, "4"],
    [3, "5"],
  ]);
});

test("log probabilities are columns, whole and piece by piece", async () => {
  server = await startGateway();
  server.session.script = (turn) => sayScored(turn, ["Hel", "lo"]);
  const whole = await jsonOf(await post({ logprobs: 0 }));
  const columns = (tokens: readonly string[], text_offset: readonly number[]) => ({
    tokens,
    token_logprobs: tokens.map(() => -1),
    top_logprobs: tokens.map((token) => ({ [token]: -1 })),
    text_offset,
  });
  expect(whole.choices[0].logprobs).toEqual(columns(["Hel", "lo"], [0, 3]));
  const chunks = await chunksOf(await post({ logprobs: 0, stream: true }));
  expect(chunks.slice(0, -1).map(({ choices }) => choices[0].logprobs)).toEqual([
    null,
    columns(["Hel"], [0]),
    columns(["lo"], [3]),
    null,
  ]);
});

test("the token cap is reason length, and so is a prompt that was only read", async () => {
  server = await startGateway();
  server.session.script = (turn) => {
    begin(turn);
    if (!turn.request.generate) return end(turn, []);
    const incomplete_details = { reason: "max_output_tokens" };
    return end(turn, [messageItem("ab")], { status: "incomplete", incomplete_details });
  };
  for (const [max_tokens, text] of [
    [2, "ab"],
    [0, ""],
  ]) {
    const completion = await (await post({ max_tokens })).json();
    expect(completion).toMatchObject({ choices: [{ text, finish_reason: "length" }] });
  }
});

test.each([false, true])(
  "a bad prompt is an error before anything runs (stream: %s)",
  async (stream) => {
    server = await startGateway();
    const response = await post({ prompt: ["One", ""], stream });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "invalid_value", param: "prompt[1]" },
    });
    expect(server.session.turns).toEqual([]);
  },
);

test("a prompt that the engine refuses cancels the others", async () => {
  server = await startGateway();
  const aborted = new Promise<void>((resolve) => {
    server.session.script = (turn) => {
      if (server.session.turns.length === 2) throw engineApiError("ERR_QUEUE_FULL", "full");
      return new Promise((_resolve, reject) => {
        turn.signal.addEventListener("abort", () => {
          resolve();
          reject(turn.signal.reason as Error);
        });
      });
    };
  });
  expect((await post({ prompt: ["One", "Two"] })).status).toBe(429);
  await aborted;
});

test("an error in mid-stream is an error chunk", async () => {
  server = await startGateway();
  server.session.script = (turn) => {
    if (server.session.turns.length === 2) throw engineApiError("ERR_QUEUE_FULL", "full");
    begin(turn);
    emitDelta(turn, "Hel");
    return say(turn, ["lo"]);
  };
  const chunks = await chunksOf(await post({ prompt: ["One", "Two"], stream: true }));
  expect(chunks.at(-1)).toMatchObject({ error: { code: "rate_limit_exceeded" } });
});
