/**
 * Damaged requests and frames, seeded: each is answered in order, with an error body or an answer,
 * and the server serves a good request afterwards.
 */
import { createConnection } from "node:net";
import { afterEach, expect, test } from "vitest";
import { isTerminal, sendRaw, startGateway, type TestGateway } from "./test-gateway.ts";

let server: TestGateway;
afterEach(() => server.gateway.close());

const NUM_MUTATIONS = 150;

const request = JSON.stringify({
  model: "fake-model",
  instructions: "be brief",
  input: [
    { role: "user", content: [{ type: "input_text", text: 'a "quoted" text \u00e9' }] },
    { type: "function_call", call_id: "call_1", name: "ls", arguments: '{"dir":"."}' },
    {
      type: "function_call_output",
      call_id: "call_1",
      output: [{ type: "input_text", text: "x" }],
    },
  ],
  tools: [{ type: "function", name: "ls", parameters: { type: "object", properties: {} } }],
  temperature: 0.5,
  stop: ["\n"],
  metadata: { a: "b" },
});

/** A linear congruential generator: the same mutations on every run. */
function makeRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const VALUES = [
  "null",
  "[]",
  "{}",
  "1e999",
  "-1",
  '"\\ud800"',
  "true",
  '"__proto__"',
  "[[[[",
  "NaN",
];

/** One to three edits of bytes, spans or whole values. */
function mutate(text: string, random: (below: number) => number): Buffer {
  let bytes = Buffer.from(text);
  for (let edits = 1 + random(3); edits > 0; edits--) {
    const at = random(bytes.length);
    const length = random(12);
    const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at + length)];
    const value = Buffer.from(VALUES[random(VALUES.length)] ?? "");
    const noise = Buffer.from([random(256), random(256)]);
    const middle = [Buffer.alloc(0), noise, value, bytes.subarray(at, at + length * 2)];
    bytes = Buffer.concat([head, middle[random(middle.length)] ?? noise, tail]);
  }
  return bytes;
}

test(`${NUM_MUTATIONS} damaged bodies get an answer or a 400 with four keys`, async () => {
  server = await startGateway();
  const random = makeRandom(1);
  let numRefused = 0;
  for (let i = 0; i < NUM_MUTATIONS; i++) {
    const response = await fetch(`${server.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: new Uint8Array(mutate(request, random)),
    });
    const body = JSON.parse(await response.text());
    if (response.status === 200) continue;
    numRefused++;
    expect([400, 404]).toContain(response.status);
    expect(Object.keys(body.error).sort()).toEqual(["code", "message", "param", "type"]);
  }
  expect(numRefused).toBeGreaterThan(NUM_MUTATIONS / 2);
  expect((await server.post("/v1/responses", request)).status).toBe(200);
});

test(`${NUM_MUTATIONS} damaged chat bodies get an answer or a 400 with four keys`, async () => {
  server = await startGateway();
  const random = makeRandom(2);
  const call = { id: "c", type: "function", function: { name: "ls", arguments: "{}" } };
  const chat = JSON.stringify({
    model: "fake-model",
    messages: [
      { role: "system", content: "s" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "t" }] },
    ],
    tools: [{ type: "function", function: { name: "ls" } }],
    stop: "x",
  });
  for (let i = 0; i < NUM_MUTATIONS; i++) {
    const body = new Uint8Array(mutate(chat, random));
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers,
      body,
    });
    expect([200, 400, 404]).toContain(response.status);
    expect(typeof JSON.parse(await response.text())).toBe("object");
  }
  expect((await server.post("/v1/chat/completions", chat)).status).toBe(200);
});

test(`${NUM_MUTATIONS} damaged frames get a response or an error frame, on one socket`, async () => {
  server = await startGateway();
  const random = makeRandom(3);
  const socket = await server.connect();
  const frame = `{"type":"response.create",${request.slice(1)}`;
  for (let i = 0; i < NUM_MUTATIONS; i++) {
    // Text that is not UTF-8 would end the connection, by the WebSocket protocol.
    socket.socket.send(mutate(frame, random).toString());
    await socket.until(isTerminal, i + 1);
  }
  for (const { type, status, error } of socket.frames) {
    if (type !== "error") continue;
    expect([400, 404]).toContain(status);
    expect(Object.keys(error as object).sort()).toEqual(["code", "message", "param", "type"]);
  }
  socket.socket.send(frame);
  const frames = await socket.until(isTerminal, NUM_MUTATIONS + 1);
  expect(frames.at(-1)?.type).toBe("response.completed");
});

test(`${NUM_MUTATIONS} damaged HTTP requests leave the server serving`, async () => {
  server = await startGateway();
  const random = makeRandom(4);
  const head = `POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`;
  const whole = `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(request)}\r\n\r\n${request}`;
  for (let i = 0; i < NUM_MUTATIONS; i++) await sendAndLeave(mutate(whole, random));
  expect((await server.post("/v1/responses", request)).status).toBe(200);
});

test(`${NUM_MUTATIONS} damaged WebSocket streams leave the server serving`, async () => {
  server = await startGateway();
  const random = makeRandom(5);
  const upgrade =
    "GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  for (let i = 0; i < NUM_MUTATIONS; i++) {
    const frames = Buffer.from(Array.from({ length: 40 }, () => random(256)));
    const isHeadDamaged = i % 2 === 0;
    const start = isHeadDamaged ? mutate(upgrade, random) : Buffer.from(upgrade);
    await sendAndLeave(Buffer.concat([start, frames]));
  }
  expect((await sendRaw(server.port, "\r\n\r\n\u0000")).status).toBe(400);
  await expect.poll(() => server.session.numOpenConnections).toBe(0);
  const socket = await server.connect();
  socket.create();
  await socket.until((next) => next.type === "response.completed");
});

/** Sends, half-closes, and waits for the server to close its side too. */
function sendAndLeave(bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = createConnection(server.port, "127.0.0.1");
    socket.on("error", () => undefined); // the server may reset; "close" follows
    socket.on("close", () => resolve());
    socket.resume();
    socket.end(bytes);
  });
}
