import { once } from "node:events";
import type { Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { afterEach, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { engineApiError } from "../../../src/protocol/engine-error-map.ts";
import { ApiKeys } from "../../../src/gateway/api-keys.ts";
import { holdTurns } from "./fake-session.ts";
import { isError, isTerminal, startGateway, type TestGateway, TestSocket } from "./test-gateway.ts";

let server: TestGateway;
afterEach(async () => {
  vi.useRealTimers();
  await server.gateway.close();
});

/** An address of this machine that is not loopback. */
function ownAddress(): string | undefined {
  return Object.values(networkInterfaces())
    .flat()
    .find((entry) => entry?.family === "IPv4" && !entry.internal)?.address;
}

describe("frames", () => {
  test("a response is the same events as on SSE, one frame each", async () => {
    server = await startGateway();
    const socket = await server.connect();
    socket.create({ generate: false, stream: false });
    const frames = await socket.until(isTerminal);
    expect(frames.map((frame) => frame.type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.completed",
    ]);
    expect(frames.map((frame) => frame.sequence_number)).toEqual([0, 1, 2, 3, 4]);
    expect(frames.some((frame) => "stream_id" in frame)).toBe(false);
    expect(server.session.turns[0]).toMatchObject({
      request: { generate: false, stream: true },
      context: { transport: "ws", tenant: "default" },
    });
  });

  test.each([
    ["{", "400 invalid_json", null],
    ["[]", "400 invalid_json", null],
    ['{"type":"response.append"}', "400 unknown_event_type", "type"],
    ["{}", "400 unknown_event_type", "type"],
    ['{"type":"response.create","stream_id":""}', "400 invalid_stream_id", "stream_id"],
    ['{"type":"response.create","input":"x"}', "400 missing_required_parameter", "model"],
    ['{"type":"response.create","model":1}', "400 invalid_type", "model"],
  ])("%s is an error frame and the connection stays", async (text, error, param) => {
    server = await startGateway();
    const socket = await server.connect();
    socket.socket.send(text);
    const [frame] = await socket.until(isError);
    const body = frame?.error as Record<string, unknown>;
    expect(`${frame?.status} ${body.code}`).toBe(error);
    expect(body.param).toBe(param);
    expect(Object.keys(body).sort()).toEqual(["code", "message", "param", "type"]);
    socket.create();
    await socket.until((next) => next.type === "response.completed");
  });

  test("an engine error before the response is a frame with status and headers", async () => {
    server = await startGateway();
    server.session.script = () => {
      throw engineApiError("ERR_QUEUE_FULL", "the queue is full");
    };
    const socket = await server.connect();
    socket.create({ stream_id: "main" });
    const [frame] = await socket.until(isError);
    expect(frame).toMatchObject({
      status: 429,
      stream_id: "main",
      headers: { "retry-after": "1" },
      error: { code: "rate_limit_exceeded" },
    });
  });

  test("a binary frame is read as text; binary garbage closes with 1003", async () => {
    server = await startGateway();
    const socket = await server.connect();
    const frame = { type: "response.create", model: "fake-model", input: "hi" };
    socket.socket.send(Buffer.from(JSON.stringify(frame)));
    await socket.until(isTerminal);
    socket.socket.send(Buffer.from([0xff, 0xfe, 0x00]));
    expect(await socket.closed).toBe(1003);
  });

  test("text that is not UTF-8 gets an error frame, then 1007", async () => {
    server = await startGateway();
    const socket = await server.connect();
    socket.socket.send(Buffer.from([0xc3, 0x28]), { binary: false });
    expect(await socket.closed).toBe(1007);
    expect(socket.frames).toMatchObject([{ status: 400, error: { code: "invalid_json" } }]);
  });

  test("a message over the limit gets a 413 frame, then 1009", async () => {
    server = await startGateway({ limits: { maxPayloadBytes: 1000 } });
    const socket = await server.connect();
    socket.create({ input: "x".repeat(1000) });
    expect(await socket.until(isError)).toMatchObject([
      { status: 413, error: { code: "payload_too_large" } },
    ]);
    expect(await socket.closed).toBe(1009);
  });

  test("a frame that only announces too much is refused before its payload arrives", async () => {
    server = await startGateway({ limits: { maxPayloadBytes: 1000 } });
    const socket = await server.connect();
    const raw = Reflect.get(socket.socket, "_socket") as Socket;
    raw.write(Buffer.from([0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0])); // text, masked, 4 GiB
    expect(await socket.closed).toBe(1009);
    expect(socket.frames).toMatchObject([{ status: 413, error: { code: "payload_too_large" } }]);
  });

  test("a message in a great many pieces is refused", async () => {
    server = await startGateway();
    const socket = await server.connect();
    socket.socket.send("{", { fin: false });
    for (let i = 0; i < 20_000; i++) socket.socket.send(" ", { fin: false });
    expect(await socket.closed).toBe(1008);
    expect(socket.frames).toMatchObject([{ status: 413, error: { code: "payload_too_large" } }]);
  });

  test("deep nesting, duplicate fields and a flood of tiny frames are answered one by one", async () => {
    server = await startGateway();
    const socket = await server.connect();
    const deep = "[".repeat(2_000_000);
    socket.socket.send(`{"type":"response.create","model":"fake-model","input":${deep}`);
    await socket.until(isError);
    for (let i = 0; i < 5_000; i++) socket.socket.send("7");
    await socket.until(isError, 5_001);
    for (const frame of socket.frames) {
      expect(frame).toMatchObject({ status: 400, error: { code: "invalid_json" } });
    }
    const twice = '"input":"first","input":"last"';
    socket.socket.send(`{"type":"response.create","model":"fake-model",${twice}}`);
    await socket.until((frame) => frame.type === "response.completed");
    expect(server.session.turns[0]?.request.input).toMatchObject([{ content: [{ text: "last" }] }]);
  });

  test("steering is refused with its input", async () => {
    server = await startGateway();
    const socket = await server.connect();
    socket.send({ type: "response.steer", previous_response_id: "resp_1", input: "faster" });
    expect(await socket.until((frame) => frame.type === "response.steer.failed")).toMatchObject([
      {
        error: { code: "steering_not_supported" },
        steer: { previous_response_id: "resp_1", input: "faster" },
      },
    ]);
  });
});

describe("lanes", () => {
  test("one lane is first in, first out; another runs beside it", async () => {
    server = await startGateway();
    const held = holdTurns(server.session);
    const socket = await server.connect();
    socket.create({ input: "one" });
    socket.create({ input: "two" });
    socket.create({ input: "three", stream_id: "side" });
    await socket.until((frame) => frame.type === "response.in_progress", 2);
    expect(held).toHaveLength(2);
    held[1]?.();
    const sideFrames = await socket.until(isTerminal);
    expect(sideFrames.at(-1)).toMatchObject({ stream_id: "side", type: "response.completed" });
    expect(held).toHaveLength(2);
    held[0]?.();
    await socket.until((frame) => frame.type === "response.in_progress", 3);
    expect(held).toHaveLength(3);
    held[2]?.();
    await socket.until(isTerminal, 3);
  });

  test("the 17th request waits, the 33rd named lane is refused", async () => {
    server = await startGateway();
    const held = holdTurns(server.session);
    const socket = await server.connect();
    for (let i = 0; i < 33; i++) socket.create({ stream_id: `lane-${i}` });
    const frames = await socket.until(isError);
    expect(frames.at(-1)).toMatchObject({
      status: 400,
      stream_id: "lane-32",
      error: { code: "websocket_stream_limit_reached", param: "stream_id" },
    });
    expect(held).toHaveLength(16);
    held[0]?.();
    await socket.until((frame) => frame.type === "response.in_progress", 17);
    expect(held).toHaveLength(17);
  });

  test("a full queue answers 429 and goes on", async () => {
    server = await startGateway({ limits: { maxWaitingRequests: 1 } });
    const held = holdTurns(server.session);
    const socket = await server.connect();
    for (let i = 0; i < 3; i++) socket.create();
    expect((await socket.until(isError)).at(-1)).toMatchObject({
      status: 429,
      error: { code: "rate_limit_exceeded" },
    });
    held[0]?.();
    await socket.until((frame) => frame.type === "response.in_progress", 2);
    held[1]?.();
    await socket.until((frame) => frame.type === "response.completed", 2);
  });

  test("after a refusal nothing is read until another request may wait", async () => {
    server = await startGateway({ limits: { maxWaitingRequests: 1 } });
    const held = holdTurns(server.session);
    const socket = await server.connect();
    for (let i = 0; i < 3; i++) socket.create();
    await socket.until(isError);
    socket.create({ input: "stays with the client" });
    held[0]?.(); // the second request starts, so that one may wait
    await socket.until((frame) => frame.type === "response.in_progress", 2);
    held[1]?.();
    await socket.until((frame) => frame.type === "response.in_progress", 3);
    held[2]?.();
    await socket.until((frame) => frame.type === "response.completed", 3);
    expect(socket.frames.filter(isError)).toHaveLength(1);
  });

  test.each([
    ["lane", ["a", "a"]],
    ["connection", ["a", "b", "c"]],
  ])("the bytes that wait are bounded by %s", async (_bound, waiting) => {
    const limits = { maxWaitingBytes: 2_500, maxWaitingBytesPerLane: 1_500 };
    server = await startGateway({ limits });
    holdTurns(server.session);
    const socket = await server.connect();
    for (const stream_id of new Set(waiting)) socket.create({ stream_id });
    for (const stream_id of waiting) socket.create({ stream_id, input: "x".repeat(1_000) });
    await socket.until(isError);
    expect(socket.frames.filter(isError)).toMatchObject([
      { status: 429, stream_id: waiting.at(-1) },
    ]);
  });
});

describe("handshake", () => {
  async function refusal(url: string, options = {}) {
    const socket = new WebSocket(url, options);
    socket.on("error", () => undefined);
    const [, response] = await once(socket, "unexpected-response");
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    socket.terminate();
    return { status: response.statusCode, headers: response.headers, code: body.error.code };
  }

  test("101 announces the message limit and an id", async () => {
    server = await startGateway();
    const socket = new WebSocket(`ws://localhost:${server.port}/v1/responses?x=1`);
    const [response] = await once(socket, "upgrade");
    expect(response.headers["x-codex-websocket-max-message-bytes"]).toBe(String(32 * 1024 * 1024));
    expect(response.headers["x-request-id"]).toMatch(/^req_/);
    expect(response.headers["sec-websocket-extensions"]).toBeUndefined();
    socket.terminate();
  });

  test("sub-protocols are ignored", async () => {
    server = await startGateway();
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/responses`, ["realtime", "x"]);
    socket.on("error", () => undefined); // this client wants one of them
    const [response] = await once(socket, "upgrade");
    expect(response.headers["sec-websocket-protocol"]).toBeUndefined();
  });

  test("switched off, it is 426 with an error body and the connection is closed", async () => {
    server = await startGateway({ isWebSocketEnabled: false });
    const refused = await refusal(`ws://127.0.0.1:${server.port}/v1/responses`);
    expect(refused).toMatchObject({ status: 426, headers: { connection: "close" } });
    expect(refused.headers["x-request-id"]).toMatch(/^req_/);
    const ask = { model: "fake-model", input: "hi" };
    expect((await server.post("/v1/responses", ask)).status).toBe(200);
  });

  test.skipIf(ownAddress() === undefined)(
    "peers behind a network may compress, and a bomb is stopped at the limit",
    async () => {
      const apiKeys = ApiKeys.parse("alice sk-key");
      const limits = { maxPayloadBytes: 1 << 20 };
      server = await startGateway({ host: "0.0.0.0", apiKeys, limits });
      const url = `ws://${ownAddress()}:${server.port}/v1/responses`;
      const headers = { authorization: "Bearer sk-key" };
      const socket = await TestSocket.open(url, { headers, perMessageDeflate: { threshold: 0 } });
      expect(socket.socket.extensions).toMatch(/permessage-deflate/);
      socket.create({ input: "x".repeat(500_000) });
      await socket.until(isTerminal);
      socket.create({ input: "x".repeat(8 << 20) });
      expect(await socket.closed).toBe(1009);
      expect(socket.frames.at(-1)).toMatchObject({ status: 413 });
    },
  );

  test("other paths are 404, loading and full servers 503 with retry-after", async () => {
    server = await startGateway({ isLoading: true, limits: { maxConnections: 1 } });
    const url = `ws://127.0.0.1:${server.port}/v1/responses`;
    expect(await refusal(`ws://127.0.0.1:${server.port}/v1/other`)).toMatchObject({ status: 404 });
    expect(await refusal(url)).toMatchObject({ status: 503, code: "server_is_overloaded" });
    server.gateway.setReady(server.session);
    await server.connect();
    const full = await refusal(url);
    expect([full.status, full.headers["retry-after"]]).toEqual([503, "1"]);
  });
});
