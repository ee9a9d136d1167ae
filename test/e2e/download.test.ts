/** Downloads of the default model from a hub of our own, through the command that users run. */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { COMMIT, TestHub } from "../unit/models/test-hub.ts";
import { TINY_MODEL } from "../fixture-models.ts";
import { runCli, startServer } from "./cli-process.ts";
import {
  DEFAULT_MODEL,
  flipOneBit,
  hubEnv,
  readDefaultModel,
  startDefaultModelHub,
} from "./default-model-hub.ts";

const FILE = `${DEFAULT_MODEL.id}/${DEFAULT_MODEL.file}`;

let body: Buffer;
beforeAll(async () => {
  body = await readDefaultModel();
}, 1_800_000);

function emptyFolder(): string {
  return mkdtempSync(path.join(tmpdir(), "warmloop-download-"));
}

describe("models pull", () => {
  test("a body cut at 40 % is continued, and the file is whole", async () => {
    await using hub = await startDefaultModelHub(body, { cutsAt: [0.4] });
    const modelsDir = emptyFolder();
    const env = hubEnv(hub, modelsDir);
    const { exitCode, stdout, stderr } = await runCli(["models", "pull"], { env });
    expect(exitCode, stderr).toBe(0);
    expect(stdout.trim()).toBe(path.join(modelsDir, FILE));
    expect(hub.ranges[1]).toMatch(/^bytes=[1-9]/);
  });

  test("a flipped byte: 5, both digests, and no file under the final name", async () => {
    const sends = { [DEFAULT_MODEL.file]: flipOneBit(body) };
    await using hub = await startDefaultModelHub(body, { sends });
    const modelsDir = emptyFolder();
    const env = hubEnv(hub, modelsDir);
    const { exitCode, stderr } = await runCli(["models", "pull"], { env });
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/[0-9a-f]{64}.*[0-9a-f]{64}/);
    expect(existsSync(path.join(modelsDir, FILE))).toBe(false);
  });

  test("two at once end with one whole file", async () => {
    await using hub = await startDefaultModelHub(body);
    const modelsDir = emptyFolder();
    const env = hubEnv(hub, modelsDir);
    const pull = () => runCli(["models", "pull"], { env });
    const results = await Promise.all([pull(), pull()]);
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(readFileSync(path.join(modelsDir, FILE)).equals(body)).toBe(true);
  });

  test("no source at all: 5, and what to do", async () => {
    const env = hubEnv({ url: "http://127.0.0.1:9" }, emptyFolder());
    const { exitCode, stderr } = await runCli(["models", "pull"], { env });
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/cannot download smollm2-135m-instruct: .*--model PATH/);
  });

  test("an unknown id: 2, and where the known ones are", async () => {
    const { exitCode, stderr } = await runCli(["models", "pull", "no-such-model"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("models list");
  });

  test("terms that were not accepted: 2, their address and what to do", async () => {
    const env = { WARMLOOP_MODELS_DIR: emptyFolder() };
    const { exitCode, stderr } = await runCli(["models", "pull", "gemma-3-270m"], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /^warmloop: ERR_LICENSE_NOT_ACCEPTED: .*https:\/\/ai\.google\.dev\/gemma\/terms.*models pull gemma-3-270m --accept-license/,
    );
  });

  test.each([
    ["gemma-3-270m", "--accept-license"],
    ["gemma-3-270m", "--accept-license", "gemma-3-270m"],
    ["--accept-license", "gemma-3-270m", "gemma-3-270m"],
    ["--accept-license=gemma", "gemma-3-270m"],
  ])("terms are accepted by %s %s %s", async (...args) => {
    await using hub = await TestHub.start({ repos: {}, status: 404 });
    const env = hubEnv(hub, emptyFolder());
    const { stderr } = await runCli(["models", "pull", ...args], { env });
    expect(stderr).toContain("ERR_DOWNLOAD_NO_SOURCE"); // past the terms
  });

  test("accepted terms without a model: 2, and how to name it", async () => {
    const args = ["models", "pull", "--accept-license", "gemma-3-270m"];
    const { exitCode, stderr } = await runCli(args);
    expect(stderr).toMatch(/^warmloop: .*no model.*"models pull gemma-3-270m --accept-license"\n$/);
    expect(exitCode).toBe(2);
  });

  test("terms of another model do not count", async () => {
    const env = { WARMLOOP_MODELS_DIR: emptyFolder() };
    const args = ["models", "pull", "gemma-3-270m", "--accept-license", "llama"];
    const { exitCode, stderr } = await runCli(args, { env });
    expect(stderr).toMatch(/ERR_LICENSE_NOT_ACCEPTED/);
    expect(exitCode).toBe(2);
  });

  test("terms accepted once are remembered", async () => {
    await using hub = await TestHub.start({ repos: {}, status: 404 });
    const env = hubEnv(hub, emptyFolder());
    const pull = ["models", "pull", "gemma-3-270m"];
    for (const args of [[...pull, "--accept-license"], pull]) {
      const { exitCode, stderr } = await runCli(args, { env });
      expect(stderr).toContain("ERR_DOWNLOAD_NO_SOURCE"); // past the terms
      expect(exitCode).toBe(5);
    }
  });
});

describe("a model of the hub", () => {
  const files = { "sub/tiny.gguf": readFileSync(TINY_MODEL) };

  test("is pulled, inspected and served, the second time without network", async () => {
    await using hub = await TestHub.start({ repos: { "o/r": { files, token: "hf_secret" } } });
    const env = {
      WARMLOOP_MODELS_DIR: emptyFolder(),
      HF_ENDPOINT: hub.url,
      HF_TOKEN: "hf_secret",
      WARMLOOP_LOG_LEVEL: "trace",
    };
    const name = "hf:o/r/sub/tiny.gguf";
    const notThere = await runCli(["models", "inspect", name], { env });
    expect(notThere.exitCode).toBe(3);
    expect(notThere.stderr).toContain(`models pull ${name}`);

    const pulled = await runCli(["models", "pull", name], { env });
    expect(pulled.exitCode, pulled.stderr).toBe(0);
    expect(pulled.stdout.trim()).toBe(
      path.join(env.WARMLOOP_MODELS_DIR, "hf/o/r", COMMIT, "sub/tiny.gguf"),
    );
    const offline = { ...env, HF_ENDPOINT: "http://127.0.0.1:9" };
    expect((await runCli(["models", "inspect", name], { env: offline })).exitCode).toBe(0);
    await using server = await startServer(["--model", name], { env: offline });
    expect(server.modelId).toBe("tiny");
    const output = pulled.stdout + pulled.stderr + server.process.stdout + server.process.stderr;
    expect(output).not.toContain("hf_secret");
  });

  test("is listed with its size while it is there, and removed", async () => {
    await using hub = await TestHub.start({ repos: { "o/r": { files } } });
    const env = { WARMLOOP_MODELS_DIR: emptyFolder(), HF_ENDPOINT: hub.url };
    const name = "hf:o/r@main/sub/tiny.gguf";
    await runCli(["models", "pull", name], { env });
    expect((await runCli(["models", "list"], { env })).stdout).toMatch(/^hf:o\/r\S+ {2}\d+ KiB, /m);
    expect((await runCli(["models", "remove", name], { env })).exitCode).toBe(0);
    expect((await runCli(["models", "list"], { env })).stdout).not.toContain("hf:");
    const { exitCode, stderr } = await runCli(["models", "remove", name], { env });
    expect(stderr).toContain(`${name} is not downloaded`);
    expect(exitCode).toBe(3);
  });

  test("is fetched by a start", async () => {
    await using hub = await TestHub.start({ repos: { "o/r": { files } } });
    const env = { WARMLOOP_MODELS_DIR: emptyFolder(), HF_ENDPOINT: hub.url };
    await using server = await startServer(["--model", "hf:o/r@main/sub/tiny.gguf"], { env });
    expect(server.modelId).toBe("tiny");
  });

  test("that needs an account: 5, and what to do", async () => {
    await using hub = await TestHub.start({ repos: { "o/r": { files, token: "hf_secret" } } });
    const env = { WARMLOOP_MODELS_DIR: emptyFolder(), HF_ENDPOINT: hub.url, HF_TOKEN: undefined };
    const { exitCode, stderr } = await runCli(["models", "pull", "hf:o/r/sub/tiny.gguf"], { env });
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/ERR_DOWNLOAD_GATED: .*accept the terms on .*HF_TOKEN/);
  });

  test("with a name that leaves its repository: 2", async () => {
    const { exitCode } = await runCli(["models", "pull", "hf:o/r/../x.gguf"]);
    expect(exitCode).toBe(2);
  });
});

test("models list shows each model with its size, licence and state", async () => {
  const { stdout } = await runCli(["models", "list"]);
  expect(stdout).toMatch(/^smollm2-135m-instruct {2}93\.8 MiB, Apache-2\.0, downloaded, default$/m);
});

test("models inspect --json says the same to programs, refusals included", async () => {
  const whole = await runCli(["models", "inspect", "--json", TINY_MODEL]);
  expect(JSON.parse(whole.stdout)).toMatchObject({
    architecture: "llama",
    tensors: { types: expect.arrayContaining([expect.objectContaining({ type: "F16" })]) },
    refusals: [],
  });
  const file = path.join(emptyFolder(), "page.gguf");
  writeFileSync(file, "<!doctype html><title>Login</title>");
  const refused = await runCli(["models", "inspect", "--json", file]);
  expect(refused.exitCode).toBe(3);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    id: "page",
    refusals: [{ code: "ERR_MODEL_FILE", message: expect.stringContaining("HTML") }],
  });
});

test("models inspect shows what the engine sees", async () => {
  const { stdout, exitCode } = await runCli(["models", "inspect", "smollm2-135m-instruct"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/architecture: +llama/);
  expect(stdout).toMatch(/210 Q4_1/);
  expect(stdout).toMatch(/30 layers, hidden 576/);
  expect(stdout).toMatch(/tokenizer: +gpt2, pre-tokenizer smollm, 49152 tokens, BOS /);
  expect(stdout).toMatch(/chat template: chatml, .*append-only/);
});
