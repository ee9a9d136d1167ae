/** Answers that would go on for long: what ends them is the context, a client that goes, a shutdown. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type StartedServer, startServer } from "./cli-process.ts";

const COUNT = { temperature: 0, messages: [{ role: "user", content: "Count from 1 to 500." }] };

function post(url: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

describe("a context of 64 tokens", () => {
  const CONTEXT_TOKENS = 64;
  let server: StartedServer;
  beforeAll(async () => {
    server = await startServer(["--ctx", String(CONTEXT_TOKENS)]);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("a chat answer ends with it, reason length", async () => {
    const url = `${server.url}/v1/chat/completions`;
    const answer = await (await post(url, { model: server.modelId, ...COUNT })).json();
    expect(answer).toMatchObject({
      choices: [{ finish_reason: "length" }],
      usage: { total_tokens: CONTEXT_TOKENS },
    });
  });

  test("a streamed response ends with it, incomplete", async () => {
    const body = { model: server.modelId, input: "Count from 1 to 500.", temperature: 0 };
    const response = await post(`${server.url}/v1/responses`, { ...body, stream: true });
    const last = (await response.text()).trim().split("\n\n").at(-1) ?? "";
    expect(last).toMatch(/^event: response\.incomplete\n/);
    expect(JSON.parse(last.slice(last.indexOf("{")))).toMatchObject({
      response: {
        incomplete_details: { reason: "max_output_tokens" },
        usage: { total_tokens: CONTEXT_TOKENS },
      },
    });
  });

  test("a prompt that leaves no room is refused with the counts", async () => {
    const body = { model: server.modelId, input: "one two ".repeat(100) };
    const response = await post(`${server.url}/v1/responses`, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "context_length_exceeded", message: expect.stringMatching(/\d{3}.*64/) },
    });
  });
});

test("a stream whose client is gone frees the engine", async () => {
  await using server = await startServer();
  const controller = new AbortController();
  const url = `${server.url}/v1/chat/completions`;
  const body = { model: server.modelId, ...COUNT, stream: true };
  const response = await post(url, body, controller.signal);
  let text = "";
  await expect(async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes('"content":"1')) controller.abort();
    }
  }).rejects.toThrow("aborted");
  const metrics = async () => await (await fetch(`${server.url}/metrics`)).text();
  await expect.poll(metrics).toMatch(/^vllm:num_requests_running\S* 0$/m);
  expect(await metrics()).toMatch(/^vllm:num_requests_waiting\S* 0$/m);
});

test("a prompt that is being computed at shutdown ends with a terminal event", async () => {
  const flags = ["--drain-seconds", "0", "--max-batch-tokens", "16"];
  await using server = await startServer(flags);
  const body = { model: server.modelId, input: "one two ".repeat(3000), stream: true };
  const response = await post(`${server.url}/v1/responses`, body);
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    if (text === "") server.process.child.kill("SIGTERM");
    text += chunk;
  }
  expect(text.trim().split("\n\n").at(-1)).toMatch(/^event: response\.failed\n/);
  const { exitCode, stderr } = await server.process.result();
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
});
