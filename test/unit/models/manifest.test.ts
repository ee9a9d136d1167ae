import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import {
  defaultModel,
  findModel,
  loadManifest,
  parseManifest,
} from "../../../src/models/manifest.ts";
import { pathOnDisk, resolveModel, weightBytes } from "../../../src/models/resolve-model.ts";

const manifest = loadManifest();

describe("the manifest", () => {
  test("has the default model with both of its sources", () => {
    const model = defaultModel(manifest);
    expect(model.id).toBe("smollm2-135m-instruct");
    expect(model.sources.map(({ kind }) => kind)).toEqual(["hf", "pypi"]);
  });

  test("has gemma-3-270m, whose terms have to be accepted, from a hub or in four packages", () => {
    const model = findModel(manifest, "gemma-3-270m");
    expect(model).toMatchObject({ bytes: 253113024, license: { name: "gemma", accept: true } });
    expect(model?.sources.map(({ kind }) => kind)).toEqual(["hf", "pypi"]);
  });

  test.each([
    ["an unknown key", { ...manifest, extra: 1 }],
    ["another schema", { ...manifest, schema: 2 }],
    ["a file name that leaves its folder", withModel({ file: "../x.gguf" })],
    ["an id that is a path", withModel({ id: "a/b" })],
    ["a digest that is not one", withModel({ sha256: "abc" })],
    [
      "an unpinned package",
      withModel({ sources: [{ kind: "pypi", packages: ["x"], members: ["y"] }] }),
    ],
    ["an id that is there twice", { schema: 1, models: [...manifest.models, ...manifest.models] }],
    ["no default", withModel({ default: false })],
  ])("with %s is refused", (_what, value) => {
    expect(() => parseManifest(value)).toThrow("models/manifest.json: ");
  });

  function withModel(overrides: object): unknown {
    return { schema: 1, models: [{ ...manifest.models[0], ...overrides }] };
  }
});

describe("resolveModel", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "warmloop-resolve-"));
  const file = path.join(folder, "My-Model.Q8_0.gguf");
  writeFileSync(file, "12345");

  test("without a wish it is the manifest's default, in the cache", () => {
    const model = resolveModel(undefined, manifest);
    expect(model).toMatchObject({ kind: "manifest", id: "smollm2-135m-instruct" });
    expect(weightBytes(model, "/cache")).toBe(98362432);
    expect(pathOnDisk(model, "/cache")).toBeUndefined();
  });

  test("a file's id is its stem in lower case", () => {
    const model = resolveModel(file, manifest);
    expect(model).toEqual({ kind: "local", id: "my-model.q8_0", path: file });
    expect(weightBytes(model, "/cache")).toBe(5);
  });

  test("a folder's id is its whole name, and only its weights count", () => {
    writeFileSync(path.join(folder, "model.safetensors"), "123");
    const model = resolveModel(folder, manifest);
    expect(model.id).toBe(path.basename(folder).toLowerCase());
    expect(weightBytes(model, "/cache")).toBe(3);
  });

  test("the shards of a split file count together", () => {
    const first = path.join(folder, "big-00001-of-00002.gguf");
    writeFileSync(first, "123");
    writeFileSync(path.join(folder, "big-00002-of-00002.gguf"), "4567");
    expect(weightBytes(resolveModel(first, manifest), "/cache")).toBe(7);
  });

  test("a model of the hub has no size before it was downloaded", () => {
    const model = resolveModel("hf:Owner/Repo/Sub/File-Q4_0.gguf", manifest);
    expect(model).toMatchObject({ kind: "hub", id: "file-q4_0" });
    expect(weightBytes(model, "/cache")).toBeUndefined();
  });

  test("what is neither says which ids there are", () => {
    expect(() => resolveModel("no-such", manifest)).toThrow(
      /--model no-such: .*smollm2-135m-instruct/,
    );
  });
});
