/** Downloads of the default model from a hub of our own, through the command that users run. */
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { TinyHub } from "../unit/models/tiny-hub.ts";
import { runCli } from "./cli-process.ts";

/** As in models/manifest.json. */
const FILE = "smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf";

let body: Buffer;
beforeAll(async () => {
  // The ordinary cache: fetched once from the ordinary sources, then there for good.
  const { exitCode, stdout, stderr } = await runCli(["models", "pull"]);
  expect(stderr, stderr).not.toContain("cannot download");
  expect(exitCode).toBe(0);
  body = readFileSync(stdout.trim());
}, 1_800_000);

function emptyFolder(): string {
  return mkdtempSync(path.join(tmpdir(), "warmloop-download-"));
}

describe("models pull", () => {
  test("a body cut at 40 % is continued, and the file is whole", async () => {
    await using hub = await TinyHub.start({ body, cutsAt: [0.4] });
    const modelsDir = emptyFolder();
    const env = { WARMLOOP_MODELS_DIR: modelsDir, HF_ENDPOINT: hub.url };
    const { exitCode, stdout, stderr } = await runCli(["models", "pull"], { env });
    expect(exitCode, stderr).toBe(0);
    expect(stdout.trim()).toBe(path.join(modelsDir, FILE));
    expect(hub.ranges[1]).toMatch(/^bytes=[1-9]/);
  });

  test("a flipped byte: 5, both digests, and no file under the final name", async () => {
    const flipped = Buffer.from(body);
    flipped[50_000_000]! ^= 1;
    await using hub = await TinyHub.start({ body: flipped });
    const modelsDir = emptyFolder();
    const env = { WARMLOOP_MODELS_DIR: modelsDir, HF_ENDPOINT: hub.url };
    const { exitCode, stderr } = await runCli(["models", "pull"], { env });
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/[0-9a-f]{64}.*[0-9a-f]{64}/);
    expect(existsSync(path.join(modelsDir, FILE))).toBe(false);
  });

  test("two at once end with one whole file", async () => {
    await using hub = await TinyHub.start({ body });
    const env = { WARMLOOP_MODELS_DIR: emptyFolder(), HF_ENDPOINT: hub.url };
    const pull = () => runCli(["models", "pull"], { env });
    const results = await Promise.all([pull(), pull()]);
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(readFileSync(path.join(env.WARMLOOP_MODELS_DIR, FILE)).equals(body)).toBe(true);
  });

  test("no source at all: 5, and what to do", async () => {
    const env = {
      WARMLOOP_MODELS_DIR: emptyFolder(),
      HF_ENDPOINT: "http://127.0.0.1:9",
      PIP_NO_INDEX: "1",
      PIP_FIND_LINKS: emptyFolder(),
    };
    const { exitCode, stderr } = await runCli(["models", "pull"], { env });
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/cannot download smollm2-135m-instruct: .*--model PATH/);
  });

  test("an unknown id: 2, and where the known ones are", async () => {
    const { exitCode, stderr } = await runCli(["models", "pull", "no-such-model"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("models list");
  });
});

test("models list shows each model with its size, licence and state", async () => {
  const { stdout } = await runCli(["models", "list"]);
  expect(stdout).toMatch(/^smollm2-135m-instruct {2}93\.8 MiB, Apache-2\.0, downloaded, default$/m);
});

test("models inspect shows what the engine sees", async () => {
  const { stdout, exitCode } = await runCli(["models", "inspect", "smollm2-135m-instruct"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/architecture: +llama/);
  expect(stdout).toMatch(/210 Q4_1/);
  expect(stdout).toMatch(/30 layers, hidden 576/);
});
