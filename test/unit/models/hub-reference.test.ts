import { describe, expect, test } from "vitest";
import {
  ggufShards,
  hubModelId,
  isPathInRepo,
  parseHubReference,
} from "../../../src/models/hub-reference.ts";

describe("parseHubReference", () => {
  test.each([
    ["hf:o/r/f.gguf", { repo: "o/r", revision: "main", file: "f.gguf" }],
    ["hf:o/r/sub/dir/f.gguf", { repo: "o/r", revision: "main", file: "sub/dir/f.gguf" }],
    ["hf:o/r@v1.0/f.gguf", { repo: "o/r", revision: "v1.0", file: "f.gguf" }],
    ["hf:o/r@refs%2Fpr%2F1", { repo: "o/r", revision: "refs/pr/1" }],
    ["hf:Some-Owner/a.b_c-d", { repo: "Some-Owner/a.b_c-d", revision: "main" }],
  ])("reads %s", (text, expected) => {
    expect(parseHubReference(text)).toEqual({ text, ...expected });
  });

  test.each([
    "hf:",
    "hf:owner",
    "hf:owner/",
    "hf:/repo",
    "hf:../repo",
    "hf:owner/..",
    "hf:owner/repo@",
    "hf:owner/repo@a@b",
    "hf:owner/repo@..",
    "hf:owner/repo@a%2F..%2Fb",
    "hf:owner/repo@%2Fetc",
    "hf:owner/repo/",
    "hf:owner/repo/../x.gguf",
    "hf:owner/repo/a/../../x.gguf",
    "hf:owner/repo//x.gguf",
    "hf:owner/repo/./x.gguf",
    "hf:owner/repo/a\\..\\x.gguf",
    "hf:owner/repo/a\0.gguf",
    "hf:owner/repo/model.bin",
    "hf:owner/repo/model.safetensors",
  ])("refuses %j as a usage error that shows the form", (text) => {
    expect(() => parseHubReference(text)).toThrow(/the form is hf:OWNER\/REPO/);
  });
});

test("a file's id is its stem, a repository's its name, in lower case", () => {
  expect(hubModelId(parseHubReference("hf:O/R/S/My-Model.Q8_0.gguf"))).toBe("my-model.q8_0");
  expect(hubModelId(parseHubReference("hf:O/My-Repo@v1"))).toBe("my-repo");
});

test("a shard stands for all shards of its file", () => {
  expect(ggufShards("sub/m-00002-of-00003.gguf")).toEqual([
    "sub/m-00001-of-00003.gguf",
    "sub/m-00002-of-00003.gguf",
    "sub/m-00003-of-00003.gguf",
  ]);
  expect(ggufShards("m-1-of-2.gguf")).toEqual(["m-1-of-2.gguf"]);
});

test.each(["..", "a/..", "/a", "a//b", "", ".", "a\\b", "a\nb"])(
  "%j is no path of a repository",
  (file) => {
    expect(isPathInRepo(file)).toBe(false);
  },
);
