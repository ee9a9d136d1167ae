import { afterEach, describe, expect, test } from "vitest";
import { ApiKeys } from "../../../src/gateway/api-keys.ts";
import { FakeClock } from "../session/fake-clock.ts";
import { end, holdTurns, holdUntilAborted } from "./fake-session.ts";
import { isError, isTerminal, jsonOf, startGateway, type TestGateway } from "./test-gateway.ts";

const KEY = "sk-limited-0123456789";
const headers = { authorization: `Bearer ${KEY}` };
const ask = { model: "fake-model", input: "hi" };

let server: TestGateway;
afterEach(() => server?.gateway.close());

async function startWith(options: string) {
  const clock = new FakeClock();
  const apiKeys = ApiKeys.parse(`alice ${KEY} ${options}`, clock);
  server = await startGateway({ apiKeys });
  return { clock, apiKeys };
}

describe("entitlements", () => {
  test("a model outside them is 404 and not listed", async () => {
    await startWith("models=other,another");
    const refused = await server.post("/v1/responses", ask, headers);
    expect([refused.status, (await jsonOf(refused)).error.code]).toEqual([404, "model_not_found"]);
    const list = await jsonOf(await fetch(`${server.url}/v1/models`, { headers }));
    expect(list).toEqual({ object: "list", data: [], models: [] });
    expect((await fetch(`${server.url}/v1/models/fake-model`, { headers })).status).toBe(404);
    const socket = await server.connect({ headers });
    socket.create();
    expect(await socket.until(isError)).toMatchObject([
      { status: 404, error: { code: "model_not_found" } },
    ]);
  });

  test("a model inside them is served", async () => {
    await startWith("models=other,fake-model");
    expect((await server.post("/v1/responses", ask, headers)).status).toBe(200);
  });
});

describe("requests a minute", () => {
  test("beyond them is 429 with the time to wait, until a minute's share has come back", async () => {
    const { clock } = await startWith("requests-per-minute=2");
    const first = await server.post("/v1/responses", ask, headers);
    expect(first.headers.get("x-ratelimit-limit-requests")).toBe("2");
    expect(first.headers.get("x-ratelimit-remaining-requests")).toBe("1");
    expect(first.headers.get("x-ratelimit-reset-requests")).toBe("30s");
    expect(first.headers.get("x-ratelimit-limit-tokens")).toBeNull();
    await server.post("/v1/chat/completions", { model: "fake-model", messages: [] }, headers);
    const refused = await server.post("/v1/responses", ask, headers);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("30");
    expect(refused.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect((await jsonOf(refused)).error).toMatchObject({
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
      message: "This key has used up its 2 requests a minute. Please try again in 30s.",
    });
    expect((await fetch(`${server.url}/v1/models`, { headers })).status).toBe(200);
    clock.advance(30_000);
    expect((await server.post("/v1/responses", ask, headers)).status).toBe(200);
  });

  test("a socket gets the error frame with its lane and headers, and stays", async () => {
    const { clock } = await startWith("requests-per-minute=1");
    const socket = await server.connect({ headers });
    socket.create();
    socket.create({ stream_id: "side" });
    await socket.until(isTerminal, 2);
    expect(socket.frames.find(isError)).toMatchObject({
      status: 429,
      stream_id: "side",
      headers: { "retry-after": "60" },
      error: { code: "rate_limit_exceeded", message: expect.stringMatching(/try again in 60s\.$/) },
    });
    clock.advance(60_000);
    socket.create();
    await socket.until((frame) => frame.type === "response.completed", 2);
  });
});

describe("uncached tokens a minute", () => {
  test("what the engine has to compute is charged, and may overdraw once", async () => {
    const { clock } = await startWith("tokens-per-minute=100");
    server.session.script = (turn) => {
      turn.context.onPrefill?.(150);
      return end(turn, []);
    };
    const first = await server.post("/v1/responses", ask, headers);
    expect(first.status).toBe(200);
    expect(first.headers.get("x-ratelimit-remaining-tokens")).toBe("0");
    expect(first.headers.get("x-ratelimit-reset-tokens")).toBe("90s");
    const socket = await server.connect({ headers });
    socket.create();
    expect(await socket.until(isError)).toMatchObject([
      { status: 429, headers: { "retry-after": "31" } },
    ]);
    clock.advance(31_000);
    socket.create();
    await socket.until((frame) => frame.type === "response.completed");
  });

  test("cached turns cost nothing", async () => {
    await startWith("tokens-per-minute=100");
    server.session.script = (turn) => {
      turn.context.onPrefill?.(0);
      return end(turn, []);
    };
    for (let i = 0; i < 5; i++) {
      const response = await server.post("/v1/responses", ask, headers);
      expect(response.headers.get("x-ratelimit-remaining-tokens")).toBe("100");
    }
  });
});

describe("requests in flight", () => {
  test("count over all transports of the key, and come back when they end", async () => {
    await startWith("in-flight=2");
    const held = holdTurns(server.session);
    const socket = await server.connect({ headers });
    socket.create();
    socket.create({ stream_id: "side" });
    await socket.until((frame) => frame.type === "response.in_progress", 2);
    const refused = await server.post("/v1/responses", ask, headers);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    held[0]?.();
    await socket.until(isTerminal);
    const running = server.post("/v1/responses", ask, headers);
    await expect.poll(() => held.length).toBe(3);
    held[2]?.();
    expect((await running).status).toBe(200);
  });

  test("a client that goes away gives its place back", async () => {
    await startWith("in-flight=1");
    server.session.script = holdUntilAborted;
    const client = new AbortController();
    const body = JSON.stringify({ ...ask, stream: true });
    const init = { method: "POST", headers: { ...headers, "content-type": "application/json" } };
    const url = `${server.url}/v1/responses`;
    await fetch(url, { ...init, body, signal: client.signal });
    expect((await server.post("/v1/responses", ask, headers)).status).toBe(429);
    client.abort();
    server.session.script = (turn) => end(turn, []);
    await expect
      .poll(async () => (await server.post("/v1/responses", ask, headers)).status)
      .toBe(200);
  });
});

describe("a reload of the keys", () => {
  test("ends sockets of a key that is gone with 1008 after their running response", async () => {
    const { apiKeys } = await startWith("");
    const held = holdTurns(server.session);
    const idle = await server.connect({ headers });
    const busy = await server.connect({ headers });
    busy.create();
    busy.create({ input: "waits behind the first" });
    await busy.until((frame) => frame.type === "response.in_progress");
    apiKeys.reload("bob sk-other-key");
    expect(await idle.closed).toBe(1008);
    held[0]?.();
    expect(await busy.closed).toBe(1008);
    expect(busy.frames.slice(2)).toMatchObject([
      { type: "response.completed" },
      { type: "error", status: 401, error: { code: "invalid_api_key" } },
    ]);
    expect((await server.post("/v1/responses", ask, headers)).status).toBe(401);
  });

  test("changes what an open socket may use, and refills no budget that stayed", async () => {
    const { apiKeys } = await startWith("requests-per-minute=3");
    const socket = await server.connect({ headers });
    socket.create();
    await socket.until(isTerminal);
    apiKeys.reload(`alice ${KEY} requests-per-minute=3 models=other`);
    socket.create();
    await socket.until(isError);
    expect(socket.frames.at(-1)).toMatchObject({ status: 404, error: { code: "model_not_found" } });
    const list = await fetch(`${server.url}/v1/models`, { headers });
    expect(list.headers.get("x-ratelimit-remaining-requests")).toBe("1");
  });

  test("a key that went to another tenant ends the old tenant's sockets", async () => {
    const { apiKeys } = await startWith("");
    const socket = await server.connect({ headers });
    apiKeys.reload(`bob ${KEY}`);
    expect(await socket.closed).toBe(1008);
    await server.post("/v1/responses", ask, headers);
    expect(server.session.turns[0]?.context.tenant).toBe("bob");
  });

  test("a text that cannot be parsed changes nothing", async () => {
    const { apiKeys } = await startWith("");
    expect(() => apiKeys.reload("")).toThrow("no key");
    expect((await server.post("/v1/responses", ask, headers)).status).toBe(200);
  });
});

test.each([
  "alice key requests-per-minute=0",
  "alice key tokens-per-minute=1.5",
  "alice key models=",
  "alice key speed=9",
  "alice key\nbob key",
])("key file %j is refused", (text) => {
  expect(() => ApiKeys.parse(text)).toThrow(expect.objectContaining({ reason: "usage" }));
});
