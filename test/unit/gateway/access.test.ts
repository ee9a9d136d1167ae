import { createHash } from "node:crypto";
import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { ApiKeys } from "../../../src/gateway/api-keys.ts";
import { sendRaw, startGateway, type TestGateway } from "./test-gateway.ts";

let server: TestGateway | undefined;
afterEach(async () => {
  await server?.gateway.close();
  server = undefined;
});

const GOOD_KEY = "sk-good-0123456789";
const WRONG_KEY = "sk-wrong-123456789";
const body = { model: "fake-model", input: "hi" };

async function upgradeStatus(port: number, headers: Record<string, string>): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/responses`, { headers });
  socket.on("error", () => undefined);
  const status = await Promise.race([
    once(socket, "open").then(() => 101),
    once(socket, "unexpected-response").then(([, response]) => response.statusCode as number),
  ]);
  socket.terminate();
  return status;
}

async function getStatus(port: number, headers: string): Promise<number> {
  const request = `GET /v1/models HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`;
  return (await sendRaw(port, request)).status;
}

describe("keys", () => {
  test("plain and hashed keys name their tenants; anything else is 401", async () => {
    const hash = createHash("sha256").update("sk-hashed").digest("hex");
    const apiKeys = ApiKeys.parse(`# team keys\nalice ${GOOD_KEY}\n\nbob sha256:${hash}\r\n`);
    server = await startGateway({ apiKeys });
    const statusOf = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      return (await server?.post("/v1/responses", body, headers))?.status;
    };
    expect(await statusOf(`Bearer ${GOOD_KEY}`)).toBe(200);
    expect(await statusOf("bearer sk-hashed")).toBe(200);
    expect(server.session.turns.map((turn) => turn.context.tenant)).toEqual(["alice", "bob"]);
    expect(await statusOf(`Bearer ${WRONG_KEY}`)).toBe(401);
    expect(await statusOf(`Bearer sha256:${hash}`)).toBe(401);
    expect(await statusOf(`Basic ${GOOD_KEY}`)).toBe(401);
    expect(await statusOf()).toBe(401);
    expect(await upgradeStatus(server.port, {})).toBe(401);
    expect(await upgradeStatus(server.port, { authorization: `Bearer ${GOOD_KEY}` })).toBe(101);
  });

  test("status routes and an unkeyed model list stay open", async () => {
    server = await startGateway({ apiKeys: ApiKeys.parse(`a ${GOOD_KEY}`) });
    for (const path of ["/health", "/readiness", "/metrics", "/v1/models"]) {
      expect((await fetch(`${server.url}${path}`)).status).toBe(200);
    }
    const headers = { authorization: `Bearer ${WRONG_KEY}` };
    expect((await fetch(`${server.url}/v1/models`, { headers })).status).toBe(401);
  });

  test("no key reaches the log, whatever went wrong", async () => {
    server = await startGateway({ apiKeys: ApiKeys.parse(`a ${GOOD_KEY}`) });
    server.session.script = () => {
      throw new Error("injected fault");
    };
    for (const key of [GOOD_KEY, WRONG_KEY]) {
      const headers = { authorization: `Bearer ${key}` };
      await server.post(`/v1/responses?api_key=${key}`, body, headers);
      await upgradeStatus(server.port, headers);
    }
    const log = server.log.join("");
    expect(log).toContain("injected fault");
    expect(log).not.toContain(GOOD_KEY);
    expect(log).not.toContain(WRONG_KEY);
  });

  test.each(["", "# nothing", "alice", "alice a b", "al/ice key"])(
    "key file %j is refused",
    (text) => {
      expect(() => ApiKeys.parse(text)).toThrow(expect.objectContaining({ reason: "usage" }));
    },
  );

  test("a host that others can reach needs keys", async () => {
    await expect(startGateway({ host: "0.0.0.0" })).rejects.toMatchObject({ reason: "usage" });
  });
});

describe("sources without keys", () => {
  test.each([
    ["Host: evil.example:8080", 403],
    ["Host: localhost:1234", 200],
    ["Host: 127.0.0.1", 200],
    ["Host: [::1]:80", 200],
    ["Host: localhost.evil.example", 403],
    ["Host: localhost\r\nOrigin: https://evil.example", 403],
    ["Host: localhost\r\nOrigin: null", 403],
    ["Host: localhost\r\nOrigin: http://localhost:3000", 200],
  ])("%s is %d", async (headers, status) => {
    server = await startGateway();
    expect(await getStatus(server.port, headers)).toBe(status);
  });

  test("upgrades are checked too", async () => {
    server = await startGateway();
    expect(await upgradeStatus(server.port, { origin: "https://evil.example" })).toBe(403);
    expect(await upgradeStatus(server.port, { host: "evil.example" })).toBe(403);
  });
});

describe("CORS", () => {
  const origin = "http://app.local:3000";

  test("a preflight of a configured origin needs no key, and errors carry the headers", async () => {
    server = await startGateway({
      apiKeys: ApiKeys.parse(`a ${GOOD_KEY}`),
      corsOrigins: [origin],
    });
    const preflight = await fetch(`${server.url}/v1/chat/completions`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    expect(preflight.headers.get("access-control-allow-headers")).toMatch(/authorization/);
    const refused = await server.post("/v1/chat/completions", {}, { origin });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("access-control-allow-origin")).toBe(origin);
    const headers = { origin, authorization: `Bearer ${GOOD_KEY}` };
    const stream = await server.post("/v1/responses", { ...body, stream: true }, headers);
    expect(stream.headers.get("access-control-allow-origin")).toBe(origin);
    await stream.text();
  });

  test("another origin gets no permission", async () => {
    server = await startGateway({ apiKeys: ApiKeys.parse(`a ${GOOD_KEY}`), corsOrigins: [origin] });
    const preflight = await fetch(`${server.url}/v1/chat/completions`, {
      method: "OPTIONS",
      headers: { origin: "http://other.local", "access-control-request-method": "POST" },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  });
});
