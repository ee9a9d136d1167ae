/** A really started server: the ready line, health before it, signals. `npm start`: ../cases. */
import { mkdtempSync } from "node:fs";
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

async function ask(url: string, body: object) {
  return await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
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
});
