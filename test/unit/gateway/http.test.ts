import { afterEach, describe, expect, test } from "vitest";
import { engineApiError } from "../../../src/protocol/engine-error-map.ts";
import { begin, callItem, end, holdUntilAborted } from "./fake-session.ts";
import { jsonOf, parseSse, sendRaw, startGateway, type TestGateway } from "./test-gateway.ts";

let server: TestGateway;
afterEach(() => server.gateway.close());

const ask = { model: "fake-model", input: "hi" };
const chat = { model: "fake-model", messages: [{ role: "user", content: "hi" }] };

async function errorOf(response: Response) {
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
  expect(response.headers.get("x-request-id")).toMatch(/^req_.{16,}/);
  return `${response.status} ${error.code}`;
}

describe("phases", () => {
  test("while the model loads, only health answers 200", async () => {
    server = await startGateway({ isLoading: true });
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    const readiness = await fetch(`${server.url}/readiness`);
    expect([readiness.status, await readiness.json()]).toEqual([503, { status: "loading" }]);
    const refused = await server.post("/v1/responses", ask);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await errorOf(refused)).toBe("503 server_is_overloaded");
    server.gateway.setReady(server.session);
    const ready = await fetch(`${server.url}/readiness`);
    expect(await ready.json()).toEqual({ status: "ready", model: "fake-model" });
  });

  test("a drain refuses new requests and lets a running stream end", async () => {
    server = await startGateway();
    let finish: (() => void) | undefined;
    server.session.script = (turn) => {
      begin(turn);
      return new Promise((resolve) => {
        finish = () => resolve(end(turn, []));
      });
    };
    const running = await server.post("/v1/responses", { ...ask, stream: true });
    const drained = server.gateway.drain(60_000);
    expect(await (await fetch(`${server.url}/readiness`)).json()).toEqual({ status: "draining" });
    expect(await errorOf(await server.post("/v1/responses", ask))).toBe("503 server_is_overloaded");
    finish?.();
    expect(parseSse(await running.text()).at(-1)?.event).toBe("response.completed");
    await drained;
    await expect(fetch(`${server.url}/health`)).rejects.toThrow();
  });

  test("a stream that outlasts the drain ends with response.failed", async () => {
    server = await startGateway();
    server.session.script = holdUntilAborted;
    const running = await server.post("/v1/responses", { ...ask, stream: true });
    const drained = server.gateway.drain(1);
    const events = parseSse(await running.text()).map(({ data }) => JSON.parse(data));
    expect(events.map((event) => event.sequence_number)).toEqual([0, 1, 2]);
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error" } },
    });
    await drained;
  });
});

describe("responses", () => {
  test("a JSON answer is the terminal response object", async () => {
    server = await startGateway();
    const response = await server.post("/v1/responses", ask);
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    expect(await response.json()).toMatchObject({
      status: "completed",
      usage: { total_tokens: 8 },
    });
    expect(server.session.turns[0]?.context).toMatchObject({
      tenant: "default",
      transport: "http",
      receivedBytes: JSON.stringify(ask).length,
    });
  });

  test("a stream frames every event with its type and ends after the terminal one", async () => {
    server = await startGateway();
    const response = await server.post("/v1/responses", { ...ask, stream: true });
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    const events = parseSse(await response.text());
    expect(events.map(({ event }) => event)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.completed",
    ]);
    events.forEach(({ event, data }, index) => {
      expect(JSON.parse(data)).toMatchObject({ type: event, sequence_number: index });
    });
  });

  test("a stream ends with [DONE] where that is wanted", async () => {
    server = await startGateway({ sendsDone: true });
    const response = await server.post("/v1/responses", { ...ask, stream: true });
    const text = await response.text();
    expect(text).toMatch(/^event: response\.completed\ndata: .+\n\ndata: \[DONE\]\n\n$/m);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("input tokens are counted without a response", async () => {
    server = await startGateway();
    const input = [
      { role: "user", content: "a" },
      { role: "user", content: "b" },
    ];
    const response = await server.post("/v1/responses/input_tokens", { ...ask, input });
    expect(await response.json()).toEqual({ object: "response.input_tokens", input_tokens: 2 });
    expect(server.session.turns).toEqual([]);
  });

  test("an error before the first event is an HTTP error on streams too", async () => {
    server = await startGateway();
    server.session.script = () => {
      throw engineApiError("ERR_QUEUE_FULL", "the queue is full");
    };
    const response = await server.post("/v1/responses", { ...ask, stream: true });
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await errorOf(response)).toBe("429 rate_limit_exceeded");
  });

  test("a failed response without a stream is an HTTP error of its code", async () => {
    server = await startGateway();
    const error = { code: "context_length_exceeded", message: "too long" };
    server.session.script = (turn) => end(turn, [], { status: "failed", error });
    expect(await errorOf(await server.post("/v1/responses", ask))).toBe(
      "400 context_length_exceeded",
    );
  });

  test("a fault is 500 without its text, which goes to the log", async () => {
    server = await startGateway();
    server.session.script = () => {
      throw new Error("secret path /models/x");
    };
    const response = await server.post("/v1/responses", ask);
    expect(await response.clone().text()).not.toContain("secret");
    expect(await errorOf(response)).toBe("500 server_error");
    expect(server.log.join("")).toContain("secret path");
  });

  test.each([true, false])(
    "a client that goes away cancels its turn (stream: %s)",
    async (stream) => {
      server = await startGateway();
      const aborted = new Promise<void>((resolve) => {
        server.session.script = (turn) => {
          turn.signal.addEventListener("abort", () => resolve());
          queueMicrotask(() => client.abort());
          return holdUntilAborted(turn);
        };
      });
      const client = new AbortController();
      const request = fetch(`${server.url}/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...ask, stream }),
        signal: client.signal,
      }).then((response) => response.text());
      await expect(request).rejects.toThrow(/abort/);
      await aborted;
    },
  );

  test("a reader that takes nothing is cut at the hard mark and its turn cancelled", async () => {
    server = await startGateway({
      limits: { softBacklogBytes: 1024, hardBacklogBytes: 64 * 1024 },
    });
    const aborted = new Promise<void>((resolve) => {
      server.session.script = (turn) => {
        const ended = holdUntilAborted(turn);
        turn.signal.addEventListener("abort", () => resolve());
        // Item events cannot be merged; the kernel takes a few MiB before anything backs up.
        const item = callItem("x".repeat(1 << 20));
        for (let i = 0; i < 32; i++) {
          turn.emit({ type: "response.output_item.done", output_index: 0, item });
        }
        return ended;
      };
    });
    const body = JSON.stringify({ ...ask, stream: true });
    const head = `POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    void sendRaw(server.port, head + body);
    await aborted;
  });
});

describe("routes", () => {
  test("the model list has the shapes of both its readers", async () => {
    server = await startGateway();
    const list = await jsonOf(await fetch(`${server.url}/v1/models?client_version=1`));
    expect(list).toMatchObject({
      object: "list",
      data: [{ id: "fake-model", object: "model" }],
      models: [{ slug: "fake-model", context_window: 4096 }],
    });
    const one = await fetch(`${server.url}/v1/models/fake-model`);
    expect(await one.json()).toEqual(list.data[0]);
    expect(await errorOf(await fetch(`${server.url}/v1/models/other`))).toBe("404 model_not_found");
  });

  test("metrics come from their source", async () => {
    server = await startGateway();
    expect(await (await fetch(`${server.url}/metrics`)).text()).toBe("up 1\n");
  });

  test("an unknown model is 404 on every transport", async () => {
    server = await startGateway();
    const model = "gpt-99";
    expect(await errorOf(await server.post("/v1/responses", { ...ask, model }))).toBe(
      "404 model_not_found",
    );
    expect(await errorOf(await server.post("/v1/chat/completions", { ...chat, model }))).toBe(
      "404 model_not_found",
    );
    const socket = await server.connect();
    socket.create({ model });
    expect(await socket.until((frame) => frame.type === "error")).toMatchObject([
      { status: 404, error: { code: "model_not_found", param: "model" } },
    ]);
  });

  test.each([
    ["GET", "/v1/responses", "405 method_not_allowed", "POST"],
    ["PUT", "/v1/responses", "405 method_not_allowed", "POST"],
    ["POST", "/v1/models", "405 method_not_allowed", "GET"],
    ["PATCH", "/v1/responses/resp_1", "405 method_not_allowed", "GET, DELETE"],
    ["GET", "/v1/responses/resp_1", "404 response_not_found", null],
    ["DELETE", "/v1/responses/resp_1", "404 response_not_found", null],
    ["GET", "/v1/responses/compact", "404 response_not_found", null],
    ["GET", "/nowhere?key=sk-1", "404 null", null],
    ["GET", "/v1/models/%ZZ", "400 invalid_value", null],
  ])("%s %s is %s", async (method, path, error, allow) => {
    server = await startGateway();
    const response = await fetch(`${server.url}${path}`, { method });
    expect(response.headers.get("allow")).toBe(allow);
    expect(await errorOf(response)).toBe(error);
  });

  test("HEAD is an ordinary refusal", async () => {
    server = await startGateway();
    expect((await fetch(`${server.url}/v1/responses`, { method: "HEAD" })).status).toBe(405);
  });
});

describe("bodies", () => {
  test.each([
    ["nothing", "", "400 invalid_json"],
    ["half an object", "{", "400 invalid_json"],
    ["an array", "[]", "400 invalid_json"],
    ["endless nesting", `{"input":${"[".repeat(100_000)}`, "400 invalid_json"],
    ["no input", '{"model":"fake-model"}', "400 missing_required_parameter"],
  ])("%s is refused", async (_name, body, error) => {
    server = await startGateway();
    expect(await errorOf(await server.post("/v1/responses", body))).toBe(error);
    expect((await server.post("/v1/responses", ask)).status).toBe(200);
  });

  test("a body over the limit is 413, another type or encoding 415", async () => {
    server = await startGateway({ limits: { maxPayloadBytes: 1000 } });
    const large = { ...ask, input: "x".repeat(1001) };
    expect(await errorOf(await server.post("/v1/responses", large))).toBe("413 payload_too_large");
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect(await errorOf(await server.post("/v1/responses", ask, form))).toBe(
      "415 unsupported_media_type",
    );
    const gzip = { "content-encoding": "gzip" };
    expect(await errorOf(await server.post("/v1/responses", ask, gzip))).toBe(
      "415 unsupported_media_type",
    );
    const charset = { "content-type": "application/json; charset=utf-8" };
    expect((await server.post("/v1/responses", ask, charset)).status).toBe(200);
  });

  test("a client that still sends a body over the limit gets the answer", async () => {
    server = await startGateway({ limits: { maxPayloadBytes: 1000 } });
    const large = "x".repeat(32 * 1024 * 1024); // far beyond what socket buffers take
    expect(await errorOf(await server.post("/v1/responses", large))).toBe("413 payload_too_large");
  });

  test("what is not HTTP gets an error body all the same", async () => {
    server = await startGateway();
    const answer = await sendRaw(server.port, "HELO there\r\n\r\n");
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/x-request-id: req_/);
    expect(JSON.parse(answer.text.split("\r\n\r\n")[1] ?? "").error.type).toBe(
      "invalid_request_error",
    );
  });
});
