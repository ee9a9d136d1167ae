import { createServer } from "node:http";
import { afterEach, expect, test } from "vitest";
import { listenOn } from "../../../src/gateway/listen.ts";
import { startGateway, type TestGateway } from "./test-gateway.ts";

let server: TestGateway | undefined;
afterEach(() => server?.gateway.close());

test("localhost answers on IPv4, and on IPv6 where the machine has it", async () => {
  server = await startGateway({ host: "localhost" });
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  const status = await fetch(`http://[::1]:${server.port}/health`).then(
    (response) => response.status,
    () => "no IPv6",
  );
  expect([200, "no IPv6"]).toContain(status);
});

test("a port in use is an error with its own exit code", async () => {
  server = await startGateway();
  await expect(listenOn(createServer, "127.0.0.1", server.port)).rejects.toMatchObject({
    reason: "addressInUse",
    message: expect.stringContaining(String(server.port)),
  });
});

test("an address of another machine is an error that names it", async () => {
  await expect(listenOn(createServer, "192.0.2.1", 0)).rejects.toMatchObject({
    reason: "other",
    message: expect.stringContaining("192.0.2.1"),
  });
});
