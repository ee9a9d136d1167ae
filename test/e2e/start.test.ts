/** A really started server: the ready line, health before it, signals, `npm start` itself. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { TestHub } from "../unit/models/test-hub.ts";
import { CliProcess, startServer } from "./cli-process.ts";

const QUESTION = {
  input: "What is the capital of France?",
  temperature: 0,
  max_output_tokens: 16,
};

async function ask(url: string, body: object, headers: Record<string, string> = {}) {
  return await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

describe("serve", () => {
  test("prints the ready line and how to connect, and answers", async () => {
    await using server = await startServer();
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(server.modelId).toBe("smollm2-135m-instruct");
    const readiness = await fetch(`${server.url}/readiness`);
    expect(await readiness.json()).toEqual({ status: "ready", model: server.modelId });

    const response = await ask(server.url, { model: server.modelId, ...QUESTION });
    expect(response.status).toBe(200);
    expect(JSON.stringify(await response.json())).toContain("The capital of France is Paris.");

    server.process.child.kill("SIGTERM");
    const { exitCode, stdout } = await server.process.result();
    expect(exitCode).toBe(0);
    for (const hint of ["curl ", "new OpenAI(", 'wire_api = "responses"']) {
      expect(stdout).toContain(hint);
    }
  });

  test("a model has the name of its alias", async () => {
    await using server = await startServer(["--alias", "my-model"]);
    const models = await (await fetch(`${server.url}/v1/models`)).json();
    expect(models).toMatchObject({ data: [{ id: "my-model" }] });
  });

  test("Ctrl-C while the model is fetched ends with 0", async () => {
    let server: CliProcess | undefined;
    const interrupt = () => server?.child.kill("SIGINT");
    await using hub = await TestHub.start({ repos: {}, hang: interrupt });
    const modelsDir = mkdtempSync(path.join(tmpdir(), "warmloop-start-"));
    const env = { WARMLOOP_MODELS_DIR: modelsDir, HF_ENDPOINT: hub.url };
    server = new CliProcess(["serve", "--port", "0"], { env });
    expect((await server.result()).exitCode).toBe(0);
  });

  test("keys stay out of all output", async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), "warmloop-keys-")), "keys");
    writeFileSync(file, "alice sk-alice-0123456789\n");
    const args = ["--api-keys", file, "--log-level", "trace"];
    await using server = await startServer(args);
    const body = { model: server.modelId, ...QUESTION };
    const withKey = (key: string) => ask(server.url, body, { authorization: `Bearer ${key}` });
    expect((await withKey("sk-alice-0123456789")).status).toBe(200);
    expect((await withKey("sk-wrong-0123456789")).status).toBe(401);
    await fetch(`${server.url}/v1/models?api_key=sk-alice-0123456789`);
    server.process.child.kill("SIGTERM");
    const { stdout, stderr } = await server.process.result();
    expect(stdout + stderr).not.toMatch(/sk-(alice|wrong)-/);
  });
});

describe("npm start", () => {
  test("passes flags on, and a SIGTERM to npm drains an open stream", async () => {
    await using server = await startServer([], { command: ["npm", "start", "--"] });
    const body = { model: server.modelId, ...QUESTION, stream: true, max_output_tokens: 2000 };
    const response = await ask(server.url, { ...body, input: "Count from 1 to 500." });
    let text = "";
    let isSignalled = false;
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (!isSignalled && text.includes("response.output_text.delta")) {
        isSignalled = true;
        server.process.child.kill("SIGTERM");
      }
    }
    const events = [...text.matchAll(/^event: (\S+)$/gm)].map((match) => match[1]);
    expect(events.at(-1)).toMatch(/^response\.(completed|failed|incomplete)$/);
    expect((await server.process.result()).exitCode).toBe(0);
    await expect(fetch(`${server.url}/health`)).rejects.toThrow(); // no orphan serves on
  });
});
