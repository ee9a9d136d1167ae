/** Keys sent in every way that a server might write down, and all that it wrote. */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { WebSocket } from "ws";
import { CliProcess, type StartedServer, whenReady } from "../../e2e/cli-process.ts";
import type { Command } from "../../memory-limit.ts";

export interface KeyCase {
  /** With a key file, and the log level at which everything is told. */
  readonly cmd: Command;
  /** In words, which `sendKeys` puts into effect. */
  readonly traffic: readonly string[];
}

type Headers = Readonly<Record<string, string>>;

/** A stop string: the turn that has it fails as by a fault of the server's own. */
const FAULT = "injected fault";

/** `key` is one of the key file. */
export async function sendKeys({ cmd, traffic }: KeyCase, key: string): Promise<object> {
  const [, wrongKey] = /wrong key (\S+)/.exec(traffic.join("\n")) ?? [];
  if (wrongKey === undefined) throw new Error("the case names no wrong key");
  const hook = pathToFileURL(path.join(import.meta.dirname, "injected-fault.mjs"));
  const env = { NODE_OPTIONS: `--import=${hook.href}`, WARMLOOP_TEST_FAULT: FAULT };
  const npm = new CliProcess([], { command: cmd, env });
  await using server = await whenReady(npm);
  await sendAll(server, key, wrongKey);
  const metrics = await fetch(`${server.url}/metrics`);
  const metricsText = await metrics.text();
  npm.child.kill("SIGTERM");
  const { stdout, stderr } = await npm.result();
  return { all_output: stdout + stderr, metrics_text: metricsText };
}

/** @throws {Error} when an answer has another status: then nothing would be shown */
async function sendAll(server: StartedServer, key: string, wrongKey: string): Promise<void> {
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
  const query = `?api_key=${key}`;
  const statuses = {
    "good key": await ask(server, { headers: bearer(key) }),
    "wrong key": await ask(server, { headers: bearer(wrongKey) }),
    "key in the query": await ask(server, { query }),
    upgrade: await upgrade(server, { headers: bearer(key) }),
    "upgrade with the wrong key": await upgrade(server, { headers: bearer(wrongKey) }),
    "upgrade with the key in the query": await upgrade(server, { query }),
    fault: await ask(server, { headers: bearer(key), stop: FAULT }),
  };
  const wanted = [200, 401, 401, 101, 401, 401, 500];
  if (Object.values(statuses).join() === wanted.join()) return;
  throw new Error(`${JSON.stringify(statuses)} instead of ${wanted}`);
}

interface Attempt {
  readonly headers?: Headers;
  readonly query?: string;
}

/** Status of a short chat answer. */
async function ask(
  { url, modelId: model }: StartedServer,
  { headers, query = "", stop }: Attempt & { readonly stop?: string },
): Promise<number> {
  const messages = [{ role: "user", content: "Hello." }];
  const response = await fetch(`${url}/v1/chat/completions${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, messages, max_tokens: 4, stop }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Status of the answer to an upgrade. */
async function upgrade(
  { url }: StartedServer,
  { headers = {}, query = "" }: Attempt,
): Promise<number> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses${query}`, { headers });
  const status = new Promise<number>((resolve, reject) => {
    socket.on("open", () => resolve(101));
    socket.on("unexpected-response", (request, response) => {
      request.destroy();
      resolve(response.statusCode ?? 0);
    });
    socket.on("error", reject);
  });
  try {
    return await status;
  } finally {
    socket.terminate();
  }
}
