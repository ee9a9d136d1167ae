import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type FetchOptions, fetchModel } from "../../../src/models/fetch-model.ts";
import type { ManifestModel } from "../../../src/models/manifest.ts";
import { TinyHub } from "./tiny-hub.ts";

const BODY = randomBytes(3_000_000);
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

function makeModel(overrides: Partial<ManifestModel> = {}): ManifestModel {
  return {
    id: "tiny",
    file: "tiny.gguf",
    bytes: BODY.length,
    sha256: sha256(BODY),
    license: { name: "Apache-2.0", url: "https://example.org/license", accept: false },
    sources: [{ kind: "hf", repo: "someone/tiny", revision: "abc", path: "tiny.gguf" }],
    ...overrides,
  };
}

function makeOptions(hubUrl: string): FetchOptions & { readonly lines: string[] } {
  const lines: string[] = [];
  return {
    modelsDir: mkdtempSync(path.join(tmpdir(), "warmloop-models-")),
    hubUrl,
    acceptedLicenses: [],
    progress: {
      note: (line) => lines.push(line),
      begin: () => undefined,
      advance: () => undefined,
      end: () => undefined,
    },
    lines,
  };
}

describe("fetchModel", () => {
  test("a downloaded file has its final name and no part is left", async () => {
    await using hub = await TinyHub.start({ body: BODY });
    const options = makeOptions(hub.url);
    const file = await fetchModel(makeModel(), options);
    expect(readFileSync(file).equals(BODY)).toBe(true);
    expect(readdirSync(path.dirname(file))).toEqual(["tiny.gguf"]);
  });

  test("a cached file needs no request", async () => {
    await using hub = await TinyHub.start({ body: BODY });
    const options = makeOptions(hub.url);
    await fetchModel(makeModel(), options);
    const requests = hub.ranges.length;
    await fetchModel(makeModel(), options);
    expect(hub.ranges.length).toBe(requests);
  });

  test("a body cut at 40 % is continued by a range request, not begun again", async () => {
    await using hub = await TinyHub.start({ body: BODY, cutsAt: [0.4, 0.5] });
    const file = await fetchModel(makeModel(), makeOptions(hub.url));
    expect(readFileSync(file).equals(BODY)).toBe(true);
    expect(hub.ranges[1]).toMatch(/^bytes=[1-9]/);
    expect(hub.ranges[2]).toMatch(/^bytes=[1-9]/);
  });

  test("a server without ranges is read from the beginning", async () => {
    await using hub = await TinyHub.start({ body: BODY, ignoresRanges: true });
    const options = makeOptions(hub.url);
    leavePart(options.modelsDir, `tiny.gguf.${hostname()}.999999999.part`, BODY.subarray(0, 1000));
    const file = await fetchModel(makeModel(), options);
    expect(readFileSync(file).equals(BODY)).toBe(true);
  });

  test("the part of a process that is gone is taken over", async () => {
    await using hub = await TinyHub.start({ body: BODY });
    const options = makeOptions(hub.url);
    leavePart(options.modelsDir, `tiny.gguf.${hostname()}.999999999.part`, BODY.subarray(0, 1000));
    const file = await fetchModel(makeModel(), options);
    expect(hub.ranges).toEqual(["bytes=1000-"]);
    expect(readdirSync(path.dirname(file))).toEqual(["tiny.gguf"]);
  });

  test("the part of a running process is left alone", async () => {
    await using hub = await TinyHub.start({ body: BODY });
    const options = makeOptions(hub.url);
    const name = `tiny.gguf.${hostname()}.${process.ppid}.part`;
    leavePart(options.modelsDir, name, BODY.subarray(0, 1000));
    const file = await fetchModel(makeModel(), options);
    expect(hub.ranges).toEqual(["bytes=0-"]);
    expect(existsSync(path.join(path.dirname(file), name))).toBe(true);
  });

  test("a wrong checksum removes the file and names both digests", async () => {
    const flipped = Buffer.from(BODY);
    flipped[1_000_000]! ^= 1;
    await using hub = await TinyHub.start({ body: flipped });
    const options = makeOptions(hub.url);
    const model = makeModel();
    await expect(fetchModel(model, options)).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringMatching(new RegExp(`${model.sha256}.*${sha256(flipped)}`)),
    });
    expect(readdirSync(path.join(options.modelsDir, "tiny"))).toEqual([]);
  });

  test("a source without the file gives way to the next", async () => {
    await using hub = await TinyHub.start({ body: BODY });
    const options = makeOptions(hub.url);
    const [source] = makeModel().sources;
    const absent = { kind: "hf", repo: "a/b", revision: "c", path: "absent.gguf" } as const;
    await fetchModel(makeModel({ sources: [absent, source!] }), options);
    expect(options.lines).toEqual([expect.stringContaining("source not usable")]);
  });

  test("without any source the message says what to do", async () => {
    const options = makeOptions("http://127.0.0.1:9");
    await expect(fetchModel(makeModel(), options)).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringMatching(/cannot download tiny: .*127\.0\.0\.1:9.*--model PATH/),
    });
  });

  test("a hub whose file has another size is not used", async () => {
    await using hub = await TinyHub.start({ body: BODY.subarray(0, 10) });
    await expect(fetchModel(makeModel(), makeOptions(hub.url))).rejects.toThrow(
      "has 10 bytes under tiny.gguf, the manifest says 3000000",
    );
  });

  test("terms that must be accepted are asked for once and recorded beside the file", async () => {
    await using hub = await TinyHub.start({ body: BODY });
    const options = makeOptions(hub.url);
    const license = { name: "Terms", url: "https://example.org/terms", accept: true };
    const model = makeModel({ license });
    await expect(fetchModel(model, options)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("--accept-license tiny"),
    });
    const file = await fetchModel(model, { ...options, acceptedLicenses: ["tiny"] });
    expect(readdirSync(path.dirname(file))).toContain("license-accepted.json");
  });
});

function leavePart(modelsDir: string, name: string, bytes: Buffer): void {
  mkdirSync(path.join(modelsDir, "tiny"), { recursive: true });
  writeFileSync(path.join(modelsDir, "tiny", name), bytes);
}
