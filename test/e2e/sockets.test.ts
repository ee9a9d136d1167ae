/** Sockets of a really started server: clients that drop TCP, prompts of megabytes, keys that go. */
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Frame, TestSocket } from "../unit/gateway/test-gateway.ts";
import { startServer } from "./cli-process.ts";

const connect = (url: string, headers = {}) =>
  TestSocket.open(`${url.replace("http", "ws")}/v1/responses`, { headers });

test("a socket that is dropped mid-turn frees the engine, and the next turn finds the KV", async () => {
  await using server = await startServer();
  const input = `Count from 1 to 500. ${"These words are here to be cached. ".repeat(20)}`;
  const ask = { model: server.modelId, input, temperature: 0, store: false };
  const dropped = await connect(server.url);
  dropped.create(ask);
  await dropped.until((frame) => frame.type === "response.output_text.delta");
  dropped.socket.terminate();
  const metrics = async () => await (await fetch(`${server.url}/metrics`)).text();
  await expect.poll(metrics).toMatch(/^vllm:num_requests_running\S* 0$/m);
  const next = await connect(server.url);
  next.create({ ...ask, max_output_tokens: 1 });
  const frames = await next.until((frame) => frame.type === "response.incomplete");
  const { input_tokens, input_tokens_details } = usageOf(frames.at(-1));
  expect(input_tokens - input_tokens_details.cached_tokens).toBeLessThanOrEqual(16);
  next.socket.close();
});

interface Usage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
}

function usageOf(frame: Frame | undefined): Usage {
  if (frame === undefined) throw new Error("no frame came");
  return (frame.response as { readonly usage: Usage }).usage;
}

test("prompts of two megabytes are refused with their count, on both transports", async () => {
  await using server = await startServer();
  const ask = { model: server.modelId, input: "one two three ".repeat(150_000) };
  const response = await fetch(`${server.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ask),
  });
  expect(response.status).toBe(400);
  const tooLong = {
    code: "context_length_exceeded",
    message: expect.stringMatching(/\d{6}.*8192/),
  };
  expect(await response.json()).toMatchObject({ error: tooLong });
  const socket = await connect(server.url);
  socket.create(ask);
  const frames = await socket.until((frame) => frame.type === "response.failed");
  expect(frames.at(-1)).toMatchObject({ response: { error: tooLong } });
  socket.socket.close();
});

test("SIGHUP takes a key away: its idle socket ends with 1008, and the server serves on", async () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "warmloop-")), "keys");
  writeFileSync(file, "alice sk-alice\nbob sk-bob\n");
  await using server = await startServer(["--api-keys", file]);
  const socket = await connect(server.url, { authorization: "Bearer sk-alice" });
  writeFileSync(file, "bob sk-bob\n");
  server.process.child.kill("SIGHUP");
  expect(await socket.closed).toBe(1008);
  const headers = { authorization: "Bearer sk-bob" };
  expect((await fetch(`${server.url}/v1/models`, { headers })).status).toBe(200);
});

test("with --websocket off an upgrade is 426", async () => {
  await using server = await startServer(["--websocket", "off"]);
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/v1/responses`);
  socket.on("error", () => undefined);
  const [, response] = await once(socket, "unexpected-response");
  expect(response.statusCode).toBe(426);
  response.destroy();
});
