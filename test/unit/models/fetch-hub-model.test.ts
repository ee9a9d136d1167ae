import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { fetchHubModel } from "../../../src/models/fetch-hub-model.ts";
import { cachedHubModel, cachedHubModels } from "../../../src/models/hub-cache.ts";
import { parseHubReference } from "../../../src/models/hub-reference.ts";
import { makeFetchOptions, type TestFetchOptions } from "./fetch-options.ts";
import { COMMIT, sha256, TestHub, type TestHubOptions } from "./test-hub.ts";

const WEIGHTS = randomBytes(500_000);
const OTHER_COMMIT = "f".repeat(40);
const FILES = {
  "README.md": Buffer.from("# tiny"),
  "model.gguf": WEIGHTS,
  "quants/model-Q4_0.gguf": randomBytes(1000),
  "split-00001-of-00002.gguf": randomBytes(2000),
  "split-00002-of-00002.gguf": randomBytes(3000),
  "config.json": Buffer.from('{"model_type":"llama"}'),
  "generation_config.json": Buffer.from("{}"),
  "tokenizer.json": Buffer.from('{"version":"1.0"}'),
  "chat_template.jinja": Buffer.from(""),
  "model.safetensors": randomBytes(4000),
  "pytorch_model.bin": randomBytes(10),
};

const startHub = (options: Partial<TestHubOptions> = {}): Promise<TestHub> =>
  TestHub.start({ repos: { "o/r": { files: FILES } }, ...options });

const pull = (text: string, options: TestFetchOptions, refresh = false): Promise<string> =>
  fetchHubModel(parseHubReference(text), { ...options, refresh });

const fileUnder = (options: TestFetchOptions, ...names: readonly string[]): string =>
  path.join(options.modelsDir, "hf/o/r", ...names);

describe("a GGUF file of a hub", () => {
  test("lies under its commit, by the redirect to the CDN, and no part is left", async () => {
    await using hub = await startHub();
    const options = makeFetchOptions(hub.url);
    const file = await pull("hf:o/r/model.gguf", options);
    expect(file).toBe(fileUnder(options, COMMIT, "model.gguf"));
    expect(readFileSync(file).equals(WEIGHTS)).toBe(true);
    expect(readdirSync(path.dirname(file))).toEqual(["model.gguf"]);
    expect(options.bars).toEqual([
      { what: expect.stringContaining("model.gguf"), totalBytes: 500_000, doneBytes: 500_000 },
    ]);
  });

  test("needs no network the second time, by branch or by commit", async () => {
    await using hub = await startHub();
    const options = makeFetchOptions(hub.url);
    const file = await pull("hf:o/r/model.gguf", options);
    const offline = { ...options, hubUrl: "http://127.0.0.1:9" };
    expect(await pull("hf:o/r/model.gguf", offline)).toBe(file);
    expect(await pull(`hf:o/r@${COMMIT}/model.gguf`, offline)).toBe(file);
    expect(await pull("hf:o/r/model.gguf", offline, true)).toBe(file);
    expect(options.lines).toEqual([expect.stringContaining("what was downloaded before is used")]);
  });

  test("in a sub-folder", async () => {
    await using hub = await startHub();
    const options = makeFetchOptions(hub.url);
    const file = await pull("hf:o/r/quants/model-Q4_0.gguf", options);
    expect(file).toBe(fileUnder(options, COMMIT, "quants/model-Q4_0.gguf"));
  });

  test.each([1, 2])("by its shard %i comes with all shards, under one bar", async (number) => {
    await using hub = await startHub();
    const options = makeFetchOptions(hub.url);
    const file = await pull(`hf:o/r/split-0000${number}-of-00002.gguf`, options);
    expect(path.basename(file)).toBe("split-00001-of-00002.gguf");
    expect(readdirSync(path.dirname(file)).length).toBe(2);
    expect(options.bars).toEqual([
      { what: expect.stringContaining("2 files of o/r"), totalBytes: 5000, doneBytes: 5000 },
    ]);
  });

  test("that is cut is continued, and a later start continues too", async () => {
    await using hub = await startHub({ cutsAt: [0.4, 0, 0, 0, 0], endsCleanly: true });
    const options = makeFetchOptions(hub.url);
    await expect(pull("hf:o/r/model.gguf", options)).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_TRUNCATED",
      message: expect.stringContaining("start again to continue"),
    });
    expect(cachedHubModel(options.modelsDir, parseHubReference("hf:o/r/model.gguf"))).toBe(
      undefined,
    );
    const file = await pull("hf:o/r/model.gguf", options);
    expect(readFileSync(file).equals(WEIGHTS)).toBe(true);
    expect(hub.ranges.slice(1)).toEqual(Array(5).fill("bytes=200000-"));
  });

  test("with a wrong byte is an error with both checksums, and is not there", async () => {
    const damaged = Buffer.from(WEIGHTS);
    damaged[1000]! ^= 1;
    await using hub = await startHub({ sends: { "model.gguf": damaged } });
    const options = makeFetchOptions(hub.url);
    await expect(pull("hf:o/r/model.gguf", options)).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_CHECKSUM",
      message: expect.stringMatching(new RegExp(`${sha256(WEIGHTS)}.*${sha256(damaged)}`)),
    });
    expect(readdirSync(fileUnder(options, COMMIT))).toEqual([]);
  });

  test("of a list without checksums is checked by the one of its answer", async () => {
    await using hub = await startHub({ listsNoDigests: true });
    await pull("hf:o/r/model.gguf", makeFetchOptions(hub.url));
    await using liar = await startHub({
      listsNoDigests: true,
      sends: { "model.gguf": Buffer.alloc(WEIGHTS.length) },
    });
    await expect(pull("hf:o/r/model.gguf", makeFetchOptions(liar.url))).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_CHECKSUM",
    });
  });

  test("that is not there: the repository's GGUF files are named", async () => {
    await using hub = await startHub();
    await expect(pull("hf:o/r/absent.gguf", makeFetchOptions(hub.url))).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_NOT_FOUND",
      message: expect.stringMatching(/no absent\.gguf.*model\.gguf, quants\/model-Q4_0\.gguf/),
    });
  });

  test("of a branch that moved is fetched anew when asked for", async () => {
    const options = makeFetchOptions("");
    await using before = await startHub();
    const old = await pull("hf:o/r/model.gguf", { ...options, hubUrl: before.url });
    const repos = { "o/r": { files: FILES, commit: OTHER_COMMIT } };
    await using hub = await TestHub.start({ repos });
    const moved = { ...options, hubUrl: hub.url };
    expect(await pull("hf:o/r/model.gguf", moved)).toBe(old);
    expect(await pull("hf:o/r/model.gguf", moved, true)).toBe(
      fileUnder(options, OTHER_COMMIT, "model.gguf"),
    );
    expect(options.lines).toEqual([
      expect.stringContaining(`"models remove hf:o/r@${COMMIT}/model.gguf"`),
    ]);
  });
});

describe("the safetensors of a repository", () => {
  test("are its weights and texts, config.json last, and nothing else", async () => {
    await using hub = await startHub();
    const options = makeFetchOptions(hub.url);
    const folder = await pull("hf:o/r", options);
    expect(folder).toBe(fileUnder(options, COMMIT));
    expect(readdirSync(folder).sort()).toEqual([
      "chat_template.jinja",
      "config.json",
      "generation_config.json",
      "model.safetensors",
      "tokenizer.json",
    ]);
    expect(hub.requests.at(-1)?.path).toMatch(/config\.json$/);
    expect(await pull("hf:o/r", { ...options, hubUrl: "http://127.0.0.1:9" })).toBe(folder);
  });

  test("are the shards that the index names", async () => {
    const shard = (number: number) => `model-0000${number}-of-00002.safetensors`;
    const weight_map = { a: shard(2), b: shard(1), c: shard(2) };
    const files = {
      "config.json": FILES["config.json"],
      "model.safetensors.index.json": Buffer.from(JSON.stringify({ weight_map })),
      [shard(1)]: randomBytes(100),
      [shard(2)]: randomBytes(200),
      "consolidated.safetensors": randomBytes(300),
    };
    await using hub = await TestHub.start({ repos: { "o/r": { files } } });
    const folder = await pull("hf:o/r", makeFetchOptions(hub.url));
    expect(readdirSync(folder).sort()).toEqual([
      "config.json",
      shard(1),
      shard(2),
      "model.safetensors.index.json",
    ]);
  });

  test.each([
    ["names a file that leaves its folder", { a: "../../x" }, "has no ../../x"],
    ["names a shard that is not there", { a: "b.safetensors" }, "has no b.safetensors"],
    ["names nothing", {}, "names no files"],
    ["is of another form", undefined, "names no files"],
  ])("with an index that %s are refused", async (_what, weight_map, message) => {
    const index = Buffer.from(JSON.stringify({ weight_map }));
    const files = { "config.json": FILES["config.json"], "model.safetensors.index.json": index };
    await using hub = await TestHub.start({ repos: { "o/r": { files } } });
    await expect(pull("hf:o/r", makeFetchOptions(hub.url))).rejects.toThrow(message);
  });

  test("interrupted, they are no model yet", async () => {
    await using hub = await startHub({ sends: { "model.safetensors": Buffer.alloc(4000) } });
    const options = makeFetchOptions(hub.url);
    await expect(pull("hf:o/r", options)).rejects.toMatchObject({ code: "ERR_DOWNLOAD_CHECKSUM" });
    expect(cachedHubModel(options.modelsDir, parseHubReference("hf:o/r"))).toBeUndefined();
  });

  test("of a repository that has only GGUF files: these are named", async () => {
    await using hub = await TestHub.withFile("o/r", "model.gguf", WEIGHTS);
    await expect(pull("hf:o/r", makeFetchOptions(hub.url))).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_NOT_FOUND",
      message: expect.stringMatching(/no config\.json; its GGUF files .* model\.gguf/),
    });
  });
});

test("what is there is listed by its branch, or by its commit", async () => {
  const options = makeFetchOptions("");
  expect(cachedHubModels(options.modelsDir)).toEqual([]);
  await using hub = await startHub();
  const here = { ...options, hubUrl: hub.url };
  await pull("hf:o/r", here);
  await pull("hf:o/r/split-00002-of-00002.gguf", here);
  await pull(`hf:o/r@${COMMIT}/model.gguf`, here);
  const names = () => cachedHubModels(options.modelsDir).map(({ name }) => name);
  expect(names()).toEqual([
    "hf:o/r@main",
    "hf:o/r@main/model.gguf",
    "hf:o/r@main/split-00001-of-00002.gguf",
  ]);
  rmSync(fileUnder(options, "refs/main"));
  expect(names()[0]).toBe(`hf:o/r@${COMMIT}`);
});

describe("a hub that does not give it", () => {
  const gated = { repos: { "o/r": { files: FILES, token: "hf_secret" } } };

  test("without a token: accept the terms, set HF_TOKEN", async () => {
    await using hub = await TestHub.start(gated);
    await expect(pull("hf:o/r/model.gguf", makeFetchOptions(hub.url))).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_GATED",
      message: expect.stringMatching(/accept the terms on http:\/\/127.*\/o\/r and set HF_TOKEN/),
    });
  });

  test("with a token of another account: it is not named", async () => {
    await using hub = await TestHub.start(gated);
    const options = makeFetchOptions(hub.url, "hf_other");
    const error = await pull("hf:o/r/model.gguf", options).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "ERR_DOWNLOAD_GATED",
      message: expect.stringContaining("whose account has accepted them"),
    });
    expect(String(error)).not.toContain("hf_other");
  });

  test("the token goes to the hub, never to where the hub redirects", async () => {
    await using hub = await TestHub.start(gated);
    await pull("hf:o/r/model.gguf", makeFetchOptions(hub.url, "hf_secret"));
    const seen = (server: string) =>
      new Set(hub.requests.filter((r) => r.server === server).map((r) => r.authorization));
    expect(seen("hub")).toEqual(new Set(["Bearer hf_secret"]));
    expect(seen("cdn")).toEqual(new Set([undefined]));
  });

  test.each([
    ["hf:o/unknown/model.gguf", {}, "ERR_DOWNLOAD_NOT_FOUND"],
    ["hf:o/r@v9/model.gguf", {}, "ERR_DOWNLOAD_NOT_FOUND"],
    ["hf:o/r/model.gguf", { status: 503 }, "ERR_DOWNLOAD_NETWORK"],
    ["hf:o/r/model.gguf", { status: 400 }, "ERR_DOWNLOAD_ANSWER"],
    ["hf:o/r/model.gguf", { editList: () => ({ siblings: [] }) }, "ERR_DOWNLOAD_ANSWER"],
  ])("%s, %o: %s", async (text, options, code) => {
    await using hub = await startHub(options);
    await expect(pull(text, makeFetchOptions(hub.url))).rejects.toMatchObject({ code });
  });

  test("a name in its list that leaves the repository", async () => {
    await using hub = await startHub({
      editList: ({ sha, siblings: [first] }) => ({
        sha,
        siblings: [{ ...first, rfilename: "../../outside.gguf" }],
      }),
    });
    await expect(pull("hf:o/r/model.gguf", makeFetchOptions(hub.url))).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_ANSWER",
      message: expect.stringContaining("leaves the repository"),
    });
  });

  test("files of another commit than the one that was asked for", async () => {
    await using hub = await startHub({ editList: (list) => ({ ...list, sha: OTHER_COMMIT }) });
    await expect(pull("hf:o/r/model.gguf", makeFetchOptions(hub.url))).rejects.toThrow(
      `it answers for commit ${COMMIT}, asked for was ${OTHER_COMMIT}`,
    );
  });

  test("no network at all", async () => {
    const options = makeFetchOptions("http://127.0.0.1:9");
    await expect(pull("hf:o/r/model.gguf", options)).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_NETWORK",
      message: expect.stringContaining("127.0.0.1:9"),
    });
  });
});
