import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { loadManifest } from "../../../src/models/manifest.ts";
import { removeModel } from "../../../src/models/remove-model.ts";
import { type DownloadableModel, resolveDownloadable } from "../../../src/models/resolve-model.ts";

const COMMIT = "a".repeat(40);
const OTHER_COMMIT = "b".repeat(40);
let modelsDir = "";

beforeEach(() => {
  modelsDir = mkdtempSync(path.join(tmpdir(), "warmloop-remove-"));
});

function addFile(name: string, content = "12345"): void {
  const file = path.join(modelsDir, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
}

function model(name: string): DownloadableModel {
  return resolveDownloadable(name, loadManifest()) as DownloadableModel;
}

const left = (): string[] =>
  readdirSync(modelsDir, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(modelsDir, path.join(entry.parentPath, entry.name)))
    .toSorted();

describe("removing", () => {
  test("a model of the manifest leaves nothing of it, and all others", () => {
    addFile("gemma-3-270m/gemma.gguf");
    addFile("gemma-3-270m/license-accepted.json");
    addFile("smollm2-135m-instruct/smol.gguf");
    expect(removeModel(modelsDir, model("gemma-3-270m"))).toBe(10);
    expect(readdirSync(modelsDir)).toEqual(["smollm2-135m-instruct"]);
  });

  test("a model that is not there frees nothing", () => {
    expect(removeModel(modelsDir, model("gemma-3-270m"))).toBeUndefined();
    expect(removeModel(modelsDir, model("hf:o/r/m.gguf"))).toBeUndefined();
  });

  test("a file of the hub takes its shards and parts along, and no other file", () => {
    addFile("hf/o/r/refs/main", COMMIT);
    for (const name of ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf.host.7.part"]) {
      addFile(`hf/o/r/${COMMIT}/sub/${name}`);
    }
    addFile(`hf/o/r/${COMMIT}/other.gguf`);
    expect(removeModel(modelsDir, model("hf:o/r/sub/m-00002-of-00002.gguf"))).toBe(10);
    expect(left()).toEqual([`hf/o/r/${COMMIT}/other.gguf`, "hf/o/r/refs/main"]);
    expect(existsSync(path.join(modelsDir, `hf/o/r/${COMMIT}/sub`))).toBe(false);
  });

  test("a repository's safetensors leaves its GGUF files", () => {
    addFile("hf/o/r/refs/main", COMMIT);
    for (const name of ["config.json", "model.safetensors", "m.gguf"]) {
      addFile(`hf/o/r/${COMMIT}/${name}`);
    }
    expect(removeModel(modelsDir, model("hf:o/r"))).toBe(10);
    expect(left()).toEqual([`hf/o/r/${COMMIT}/m.gguf`, "hf/o/r/refs/main"]);
  });

  test("an older revision, by its commit, leaves the newer one", () => {
    addFile("hf/o/r/refs/main", COMMIT);
    addFile("hf/o/r/refs/v1", OTHER_COMMIT);
    for (const commit of [COMMIT, OTHER_COMMIT]) addFile(`hf/o/r/${commit}/m.gguf`);
    expect(removeModel(modelsDir, model(`hf:o/r@${OTHER_COMMIT}/m.gguf`))).toBe(5);
    expect(left()).toEqual([`hf/o/r/${COMMIT}/m.gguf`, "hf/o/r/refs/main"]);
  });

  test("follows no link out of the folder of models", () => {
    const outside = mkdtempSync(path.join(tmpdir(), "warmloop-outside-"));
    writeFileSync(path.join(outside, "precious"), "12345");
    symlinkSync(outside, path.join(modelsDir, "gemma-3-270m"));
    expect(() => removeModel(modelsDir, model("gemma-3-270m"))).toThrow(/outside of the folder/);
    mkdirSync(path.join(modelsDir, "smollm2-135m-instruct"));
    symlinkSync(outside, path.join(modelsDir, "smollm2-135m-instruct/link"));
    removeModel(modelsDir, model("smollm2-135m-instruct"));
    expect(readdirSync(outside)).toEqual(["precious"]);
  });
});

test.each(["hf:o/r@../../x/m.gguf", "hf:../r/m.gguf", "hf:o/r/../../m.gguf", "hf:o/r@..%2Fx"])(
  "%s is no model",
  (name) => {
    expect(() => model(name)).toThrow(/the form is hf:/);
  },
);
