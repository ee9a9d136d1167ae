import { afterEach, expect, test } from "vitest";
import { holdTurns } from "./fake-session.ts";
import { isError, isTerminal, jsonOf, startGateway, type TestGateway } from "./test-gateway.ts";

/** Far above what is parsed on the main thread. */
const LARGE = "x".repeat(2 << 20);

let server: TestGateway;
afterEach(() => server.gateway.close());

test("a large body is parsed like any other, and its errors name the field", async () => {
  server = await startGateway();
  const ask = { model: "fake-model", input: LARGE };
  expect((await server.post("/v1/responses", ask)).status).toBe(200);
  expect(server.session.turns[0]?.request.input).toMatchObject([{ content: [{ text: LARGE }] }]);
  const messages = [{ role: "user", content: LARGE }];
  const chat = { model: "fake-model", messages, temperature: 9 };
  const refused = await server.post("/v1/chat/completions", chat);
  expect(refused.status).toBe(400);
  expect((await jsonOf(refused)).error).toMatchObject({
    code: "invalid_value",
    param: "temperature",
  });
  const completion = { model: "fake-model", prompt: LARGE, max_tokens: 4 };
  expect((await server.post("/v1/completions", completion)).status).toBe(200);
});

test("what was received is counted, however it was parsed", async () => {
  server = await startGateway();
  const ask = { model: "fake-model", input: LARGE };
  await server.post("/v1/responses", ask);
  const socket = await server.connect();
  socket.create({ input: LARGE });
  await socket.until(isTerminal);
  const received = server.session.turns.map(({ context }) => context.receivedBytes);
  expect(received[0]).toBe(JSON.stringify(ask).length);
  expect(received[1]).toBeGreaterThan(LARGE.length);
});

test("small frames behind a large one keep their order, in its lane and in others", async () => {
  server = await startGateway();
  const held = holdTurns(server.session);
  const socket = await server.connect();
  socket.create({ input: LARGE });
  socket.create({ input: "second" });
  socket.create({ input: LARGE, temperature: 9, stream_id: "side" });
  socket.create({ input: "last", stream_id: "side" });
  await socket.until((frame) => frame.type === "response.in_progress", 2);
  held[0]?.();
  await socket.until((frame) => frame.type === "response.in_progress", 3);
  const firstTexts = server.session.turns.map(({ request }) => {
    const [item] = request.input;
    return item?.type === "message" ? item.content[0]?.text.slice(0, 6) : undefined;
  });
  expect(firstTexts).toEqual(["xxxxxx", "last", "second"]);
  expect(socket.frames.filter(isError)).toMatchObject([
    { status: 400, stream_id: "side", error: { param: "temperature" } },
  ]);
  for (const end of held) end();
  await socket.until(isTerminal, 4);
});

test("a client that leaves while its frame is parsed starts nothing", async () => {
  server = await startGateway();
  const socket = await server.connect();
  socket.create({ input: LARGE });
  socket.socket.terminate();
  await socket.closed;
  const other = await server.connect();
  other.create({ input: LARGE.concat("y") });
  await other.until(isTerminal);
  expect(server.session.turns).toHaveLength(1);
});

test("a body of a great many values is refused", async () => {
  server = await startGateway();
  const extra = new Array(600_000).fill(0);
  const refused = await server.post("/v1/responses", { model: "fake-model", input: "hi", extra });
  expect([refused.status, (await jsonOf(refused)).error.code]).toEqual([400, "invalid_json"]);
});
