/** Routes of one response by its id, in front of a real session and a scripted engine. */
import { afterEach, describe, expect, test } from "vitest";
import { createDeferred } from "../../../src/base/deferred.ts";
import { ApiKeys } from "../../../src/gateway/api-keys.ts";
import type { GatewayLimits } from "../../../src/gateway/gateway-options.ts";
import { createFixture, says } from "../session/session-fixture.ts";
import { startGateway } from "./test-gateway.ts";

/** A response, a list of items or an error, as far as the tests look at it. */
interface Body {
  readonly id: string;
  readonly status: string;
  readonly output: readonly { readonly content: readonly { readonly text: string }[] }[];
  readonly data: readonly { readonly id: string; readonly content: string }[];
  readonly first_id: string;
  readonly last_id: string;
  readonly has_more: boolean;
  readonly error: { readonly code: string; readonly param: string };
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function start(
  options: { readonly keys?: string; readonly limits?: Partial<GatewayLimits> } = {},
) {
  const { endpoint, session } = createFixture();
  const { keys, limits = {} } = options;
  const apiKeys = keys === undefined ? {} : { apiKeys: ApiKeys.parse(keys) };
  const gateway = await startGateway({ realSession: session, limits, ...apiKeys });
  closers.push(() => gateway.gateway.close());
  const call = async (method: string, path: string, key?: string) => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(`${gateway.url}/v1/responses${path}`, { method, headers });
    return { status: response.status, body: (await response.json()) as Body };
  };
  return {
    ...gateway,
    endpoint,
    call,
    get: (path: string, key?: string) => call("GET", path, key),
    async create(fields: object, key?: string) {
      const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
      const body = { model: "fake-model", input: "hi", ...fields };
      return (await (await gateway.post("/v1/responses", body, headers)).json()) as Body;
    },
  };
}

type Server = Awaited<ReturnType<typeof start>>;

/** Events of an SSE answer, as far as they have come when `isLast` holds. */
async function readEvents(response: Response, isLast = (_type: string) => false) {
  const events: { type: string; sequence_number: number; delta?: string }[] = [];
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const lines = text.split("\n\n");
    text = lines.pop() ?? "";
    for (const line of lines) events.push(JSON.parse(line.slice(line.indexOf("data: ") + 6)));
    if (events.some(({ type }) => isLast(type))) break;
  }
  return events;
}

const types = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);

async function untilStatus(server: Server, id: string, status: string): Promise<void> {
  await expect.poll(async () => (await server.get(`/${id}`)).body.status).toBe(status);
}

describe("a stored response", () => {
  test("is shown, lists its input and is deleted", async () => {
    const server = await start();
    server.endpoint.script.push(says("Hello."));
    const created = await server.create({ instructions: "Be brief.", metadata: { a: "b" } });
    expect((await server.get(`/${created.id}`)).body).toEqual(created);
    const list = await server.get(`/${created.id}/input_items`);
    expect(list.body).toMatchObject({
      object: "list",
      data: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
      has_more: false,
    });
    expect(list.body.first_id).toBe(list.body.data[0]?.id);
    expect(await server.call("DELETE", `/${created.id}`)).toEqual({
      status: 200,
      body: { id: created.id, object: "response", deleted: true },
    });
    expect(await server.get(`/${created.id}`)).toMatchObject({
      status: 404,
      body: { error: { code: "response_not_found", param: "response_id" } },
    });
    const chained = await server.create({ previous_response_id: created.id });
    expect(chained.error.code).toBe("previous_response_not_found");
  });

  test("shows its output item with the id it was sent with, and lists pages in both orders", async () => {
    const server = await start();
    const input = Array.from({ length: 5 }, (_, index) => ({ role: "user", content: `n${index}` }));
    const { id } = await server.create({ input });
    const contents = async (query: string) => {
      const { body } = await server.get(`/${id}/input_items?${query}`);
      return [body.data.map((item) => item.content), body.has_more, body.last_id];
    };
    const [first, hasMore, after] = await contents("limit=2");
    expect([first, hasMore]).toEqual([["n4", "n3"], true]);
    expect((await contents(`limit=3&after=${after}`)).slice(0, 2)).toEqual([
      ["n2", "n1", "n0"],
      false,
    ]);
    expect((await contents("order=asc&limit=1"))[0]).toEqual(["n0"]);
    for (const query of ["limit=0", "limit=101", "limit=x", "order=up", "after=msg_none"]) {
      const { status, body } = await server.get(`/${id}/input_items?${query}`);
      expect([status, body.error.code]).toEqual([400, "invalid_value"]);
      expect(body.error.param).toBe(query.split("=")[0]);
    }
  });

  test("is unknown to other tenants on every route, and one of store:false to everyone", async () => {
    const server = await start({ keys: "a key-of-a-0123456789\nb key-of-b-0123456789\n" });
    const [a, b] = ["key-of-a-0123456789", "key-of-b-0123456789"];
    const { id } = await server.create({}, a);
    const unstored = await server.create({ store: false }, a);
    for (const [method, path, key] of [
      ["GET", `/${id}`, b],
      ["GET", `/${id}?stream=true`, b],
      ["GET", `/${id}/input_items`, b],
      ["POST", `/${id}/cancel`, b],
      ["DELETE", `/${id}`, b],
      ["GET", `/${unstored.id}`, a],
      ["DELETE", `/${unstored.id}`, a],
    ] as const) {
      const { status, body } = await server.call(method, path, key);
      expect([method, path, status, body.error.code]).toEqual([
        method,
        path,
        404,
        "response_not_found",
      ]);
    }
    expect((await server.get(`/${id}`, a)).status).toBe(200);
  });

  test("that has ended is not cancelled, and its events were not recorded", async () => {
    const server = await start();
    const { id } = await server.create({});
    expect(await server.call("POST", `/${id}/cancel`)).toMatchObject({
      status: 409,
      body: { error: { code: "conflict" } },
    });
    expect(await server.get(`/${id}?stream=true`)).toMatchObject({
      status: 400,
      body: { error: { code: "unsupported_parameter", param: "stream" } },
    });
    for (const query of ["stream=yes", "starting_after=-1", "include=everything"]) {
      expect(await server.get(`/${id}?${query}`)).toMatchObject({
        status: 400,
        body: { error: { code: "invalid_value" } },
      });
    }
    const include = "include[]=reasoning.encrypted_content";
    expect((await server.get(`/${id}?${include}&stream=false`)).status).toBe(200);
  });
});

describe("a response in the background", () => {
  test("answers at once, runs on, is shown while it runs and when it has ended", async () => {
    const server = await start();
    const computing = createDeferred<void>();
    server.endpoint.script.push(says("Done.", { computing: computing.promise }));
    const created = await server.create({ background: true });
    expect(created).toMatchObject({ background: true, status: "in_progress", output: [] });
    expect((await server.get(`/${created.id}`)).body.status).toBe("in_progress");
    expect((await server.get(`/${created.id}/input_items`)).body.data).toHaveLength(1);
    const early = await server.create({ previous_response_id: created.id });
    expect(early.error.code).toBe("previous_response_not_found");
    computing.resolve();
    await untilStatus(server, created.id, "completed");
    const { body } = await server.get(`/${created.id}`);
    expect(body.output[0]?.content[0]?.text).toBe("Done.");
    const chained = await server.create({ previous_response_id: created.id });
    expect(chained.status).toBe("completed");
  });

  test("streams on after its client has gone, and is replayed from where that was", async () => {
    const server = await start();
    const computing = createDeferred<void>();
    server.endpoint.script.push(says("one two three", { computing: computing.promise }));
    const body = { model: "fake-model", input: "hi", background: true, stream: true };
    const response = await server.post("/v1/responses", body);
    const seen = await readEvents(response, (type) => type === "response.in_progress");
    expect(types(seen)).toEqual(["response.created", "response.in_progress"]);
    const { id } = (seen[0] as unknown as { response: { id: string } }).response;
    const followed = fetch(`${server.url}/v1/responses/${id}?stream=true&starting_after=1`);
    computing.resolve();
    const rest = await readEvents(await followed);
    expect(rest.map((event) => event.sequence_number)).toEqual(rest.map((_, index) => index + 2));
    expect(rest.map(({ delta = "" }) => delta).join("")).toBe("one two three");
    expect(rest.at(-1)?.type).toBe("response.completed");
    const again = await readEvents(await fetch(`${server.url}/v1/responses/${id}?stream=true`));
    expect(again).toEqual([...seen, ...rest]);
    const late = `${server.url}/v1/responses/${id}?stream=true&starting_after=1000`;
    expect(await (await fetch(late)).text()).toBe("");
  });

  test("is cancelled once, with what it has said so far", async () => {
    const server = await start();
    server.endpoint.script.push({ isEndless: true });
    const { id } = await server.create({ background: true });
    const cancelling = server.call("POST", `/${id}/cancel`);
    const cancelled = await cancelling;
    expect(cancelled).toMatchObject({
      status: 200,
      body: { id, status: "cancelled", incomplete_details: null },
    });
    expect(await server.call("POST", `/${id}/cancel`)).toEqual(cancelled);
    expect((await server.get(`/${id}`)).body.status).toBe("cancelled");
    const events = await readEvents(await fetch(`${server.url}/v1/responses/${id}?stream=true`));
    expect(events.at(-1)).toMatchObject({
      type: "response.incomplete",
      response: { status: "cancelled" },
    });
    const chained = await server.create({ previous_response_id: id });
    expect(chained.status).toBe("completed");
  });

  test("is cancelled and gone when it is deleted", async () => {
    const server = await start();
    server.endpoint.script.push({ isEndless: true });
    const { id } = await server.create({ background: true });
    const deleting = server.call("DELETE", `/${id}`);
    expect((await deleting).body).toMatchObject({ deleted: true });
    expect((await server.get(`/${id}`)).status).toBe(404);
    expect((await server.get(`/${id}?stream=true`)).status).toBe(404);
  });

  test("that a drain cuts off has failed for those who ask later", async () => {
    const server = await start();
    server.endpoint.script.push({ isEndless: true });
    const response = await server.post("/v1/responses", {
      ...{ model: "fake-model", input: "hi" },
      ...{ background: true, stream: true },
    });
    const drained = server.gateway.drain(0);
    const events = await readEvents(response);
    await drained;
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error" } },
    });
  });

  test("has to be stored, and is not for sockets", async () => {
    const server = await start();
    expect(await server.create({ background: true, store: false })).toMatchObject({
      error: { code: "invalid_value", param: "background" },
    });
    const socket = await server.connect();
    socket.create({ background: true });
    const [frame] = await socket.until(({ type }) => type === "error");
    expect(frame).toMatchObject({ error: { code: "unsupported_parameter", param: "background" } });
  });
});

describe("response.cancel on a socket", () => {
  test("ends what runs on the lane, by lane or by id, and chains go on from it", async () => {
    const server = await start();
    const socket = await server.connect();
    for (const stream_id of [undefined, "side"]) {
      server.endpoint.script.push({ isEndless: true });
      socket.create(stream_id === undefined ? {} : { stream_id });
    }
    const started = await socket.until(({ type }) => type === "response.in_progress", 2);
    const side = started.find((frame) => frame.stream_id === "side");
    const sideId = (side as unknown as { response: { id: string } }).response.id;
    socket.send({ type: "response.cancel" });
    socket.send({ type: "response.cancel", response_id: sideId });
    const frames = await socket.until(({ type }) => type === "response.incomplete", 2);
    const ended = frames.filter(({ type }) => type === "response.incomplete");
    for (const frame of ended) {
      expect(frame.response).toMatchObject({ status: "cancelled", incomplete_details: null });
    }
    expect(ended.map((frame) => frame.stream_id ?? "default").sort()).toEqual(["default", "side"]);
    server.endpoint.script.push(says("More."));
    socket.create({ stream_id: "side", previous_response_id: sideId });
    await socket.until(({ type }) => type === "response.completed");
  });

  test("also ends what still waits for a place", async () => {
    const server = await start({ limits: { maxInFlight: 1 } });
    const socket = await server.connect();
    server.endpoint.script.push({ isEndless: true });
    socket.create();
    await socket.until(({ type }) => type === "response.in_progress");
    socket.create({ stream_id: "waits" });
    socket.send({ type: "response.cancel", stream_id: "waits" });
    socket.send({ type: "response.cancel" });
    const frames = await socket.until(({ type }) => type === "response.incomplete", 2);
    const waited = frames.filter((frame) => frame.stream_id === "waits");
    expect(types(waited)).toEqual(["response.created", "response.incomplete"]);
    expect(waited[1]?.response).toMatchObject({ status: "cancelled", output: [] });
  });

  test("of nothing is an error, and the socket goes on", async () => {
    const server = await start();
    const socket = await server.connect();
    socket.send({ type: "response.cancel", stream_id: "quiet" });
    socket.send({ type: "response.cancel", response_id: "resp_unknown" });
    const errors = await socket.until(({ type }) => type === "error", 2);
    expect(errors.map((frame) => [frame.stream_id, frame.error])).toMatchObject([
      ["quiet", { code: "response_not_active" }],
      [undefined, { code: "response_not_active" }],
    ]);
    socket.create();
    await socket.until(({ type }) => type === "response.completed");
  });
});

test("an HTTP client hears of a cancel from elsewhere", async () => {
  const server = await start();
  server.endpoint.script.push({ isEndless: true });
  const response = await server.post("/v1/responses", {
    ...{ model: "fake-model", input: "hi", stream: true },
  });
  const created = createDeferred<string>();
  const events = (async () => {
    const seen: { type: string; response?: { id: string; status: string } }[] = [];
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const lines = text.split("\n\n");
      text = lines.pop() ?? "";
      for (const line of lines) seen.push(JSON.parse(line.slice(line.indexOf("data: ") + 6)));
      if (seen[0]?.response) created.resolve(seen[0].response.id);
    }
    return seen;
  })();
  const cancelling = server.call("POST", `/${await created.promise}/cancel`);
  expect((await cancelling).body.status).toBe("cancelled");
  expect((await events).at(-1)).toMatchObject({
    type: "response.incomplete",
    response: { status: "cancelled" },
  });
});

test("a conversation is compacted into the start of a new one", async () => {
  const server = await start();
  server.endpoint.script.push(says("They met."), says("ok"));
  const input = [
    { role: "user", content: "hello" },
    { role: "assistant", content: "hi" },
  ];
  const response = await server.post("/v1/responses/compact", { model: "fake-model", input });
  expect(response.status).toBe(200);
  const compacted = (await response.json()) as { output: readonly object[] };
  expect(compacted).toMatchObject({
    object: "response.compaction",
    output: [
      { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
      { type: "compaction" },
    ],
  });
  const next = { role: "user", content: "go on" };
  expect(await server.create({ input: [...compacted.output, next] })).toMatchObject({
    status: "completed",
  });
});
