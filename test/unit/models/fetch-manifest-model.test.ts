import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { fetchManifestModel } from "../../../src/models/fetch-manifest-model.ts";
import type { ManifestModel } from "../../../src/models/manifest.ts";
import { makeFetchOptions } from "./fetch-options.ts";
import { sha256, TestHub, type TestHubOptions } from "./test-hub.ts";

const BODY = randomBytes(3_000_000);
const REPO = "someone/tiny";

const startHub = (options?: Partial<TestHubOptions>): Promise<TestHub> =>
  TestHub.withFile(REPO, "tiny.gguf", BODY, options);

function makeModel(overrides: Partial<ManifestModel> = {}): ManifestModel {
  return {
    id: "tiny",
    file: "tiny.gguf",
    bytes: BODY.length,
    sha256: sha256(BODY),
    license: { name: "Apache-2.0", url: "https://example.org/license", accept: false },
    sources: [{ kind: "hf", repo: REPO, revision: "main", path: "tiny.gguf" }],
    ...overrides,
  };
}

describe("fetchManifestModel", () => {
  test("a downloaded file has its final name and no part is left", async () => {
    await using hub = await startHub();
    const options = makeFetchOptions(hub.url);
    const file = await fetchManifestModel(makeModel(), options);
    expect(readFileSync(file).equals(BODY)).toBe(true);
    expect(readdirSync(path.dirname(file))).toEqual(["tiny.gguf"]);
  });

  test("a cached file needs no request", async () => {
    await using hub = await startHub();
    const options = makeFetchOptions(hub.url);
    await fetchManifestModel(makeModel(), options);
    const numRequests = hub.requests.length;
    await fetchManifestModel(makeModel(), options);
    expect(hub.requests.length).toBe(numRequests);
  });

  test("a body cut at 40 % is continued by a range request, not begun again", async () => {
    await using hub = await startHub({ cutsAt: [0.4, 0.5] });
    const file = await fetchManifestModel(makeModel(), makeFetchOptions(hub.url));
    expect(readFileSync(file).equals(BODY)).toBe(true);
    expect(hub.ranges[1]).toMatch(/^bytes=[1-9]/);
    expect(hub.ranges[2]).toMatch(/^bytes=[1-9]/);
  });

  test("a server without ranges is read from the beginning", async () => {
    await using hub = await startHub({ ignoresRanges: true });
    const options = makeFetchOptions(hub.url);
    leavePart(options.modelsDir, `tiny.gguf.${hostname()}.999999999.part`, BODY.subarray(0, 1000));
    const file = await fetchManifestModel(makeModel(), options);
    expect(readFileSync(file).equals(BODY)).toBe(true);
  });

  test("the part of a process that is gone is taken over", async () => {
    await using hub = await startHub();
    const options = makeFetchOptions(hub.url);
    leavePart(options.modelsDir, `tiny.gguf.${hostname()}.999999999.part`, BODY.subarray(0, 1000));
    const file = await fetchManifestModel(makeModel(), options);
    expect(hub.ranges).toEqual(["bytes=1000-"]);
    expect(readdirSync(path.dirname(file))).toEqual(["tiny.gguf"]);
  });

  test("the part of a running process is left alone", async () => {
    await using hub = await startHub();
    const options = makeFetchOptions(hub.url);
    const name = `tiny.gguf.${hostname()}.${process.ppid}.part`;
    leavePart(options.modelsDir, name, BODY.subarray(0, 1000));
    const file = await fetchManifestModel(makeModel(), options);
    expect(hub.ranges).toEqual([undefined]);
    expect(existsSync(path.join(path.dirname(file), name))).toBe(true);
  });

  test("a wrong checksum removes the file and names both digests", async () => {
    const flipped = Buffer.from(BODY);
    flipped[1_000_000]! ^= 1;
    await using hub = await startHub({ sends: { "tiny.gguf": flipped } });
    const options = makeFetchOptions(hub.url);
    const model = makeModel();
    await expect(fetchManifestModel(model, options)).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_CHECKSUM",
      message: expect.stringMatching(new RegExp(`${model.sha256}.*${sha256(flipped)}`)),
    });
    expect(readdirSync(path.join(options.modelsDir, "tiny"))).toEqual([]);
  });

  test("a source without the file gives way to the next", async () => {
    await using hub = await startHub();
    const options = makeFetchOptions(hub.url);
    const [source] = makeModel().sources;
    const absent = { kind: "hf", repo: "a/b", revision: "c", path: "absent.gguf" } as const;
    await fetchManifestModel(makeModel({ sources: [absent, source!] }), options);
    expect(options.lines).toEqual([expect.stringContaining("source not usable")]);
  });

  test("without any source the message says what to do", async () => {
    const options = makeFetchOptions("http://127.0.0.1:9");
    await expect(fetchManifestModel(makeModel(), options)).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_NO_SOURCE",
      message: expect.stringMatching(/cannot download tiny: .*127\.0\.0\.1:9.*--model PATH/),
    });
  });

  test("a hub whose file has another size is not used", async () => {
    await using hub = await startHub({ sends: { "tiny.gguf": BODY.subarray(0, 10) } });
    await expect(fetchManifestModel(makeModel(), makeFetchOptions(hub.url))).rejects.toThrow(
      "it has 10 bytes there, wanted are 3000000",
    );
  });

  test("a hub with another file under the name is left before its bytes are fetched", async () => {
    await using hub = await startHub();
    const model = makeModel({ sha256: "0".repeat(64) });
    await expect(fetchManifestModel(model, makeFetchOptions(hub.url))).rejects.toThrow(
      `it has a file of sha256 ${sha256(BODY)} there, wanted is ${model.sha256}`,
    );
  });

  test("bodies that end early are given up when no bytes come any more", async () => {
    await using hub = await startHub({ cutsAt: [0.4, 0, 0, 0, 0], endsCleanly: true });
    await expect(fetchManifestModel(makeModel(), makeFetchOptions(hub.url))).rejects.toThrow(
      "tiny.gguf keeps ending early, 1.1 MiB of 2.9 MiB are there",
    );
  });

  test("a folder that cannot be written is named", async () => {
    const options = makeFetchOptions("http://127.0.0.1:9");
    const modelsDir = path.join(options.modelsDir, "file");
    writeFileSync(modelsDir, "");
    await expect(fetchManifestModel(makeModel(), { ...options, modelsDir })).rejects.toMatchObject({
      code: "ERR_DOWNLOAD_DISK",
      message: expect.stringContaining("--models-dir"),
    });
  });
});

describe("terms that must be accepted", () => {
  const license = { name: "Terms", url: "https://example.org/terms", accept: true };
  const model = makeModel({ license });

  test("are an error with their address and the command that accepts them", async () => {
    await expect(
      fetchManifestModel(model, makeFetchOptions("http://127.0.0.1:9")),
    ).rejects.toMatchObject({
      code: "ERR_LICENSE_NOT_ACCEPTED",
      message: expect.stringMatching(
        /https:\/\/example\.org\/terms: .*models pull tiny --accept-license/,
      ),
    });
  });

  test.each(["tiny", "Terms", "yes"])("are accepted by %s, shown, and remembered", async (name) => {
    await using hub = await startHub();
    const options = makeFetchOptions(hub.url);
    const file = await fetchManifestModel(model, { ...options, acceptedLicenses: [name] });
    expect(options.lines).toEqual([expect.stringContaining("https://example.org/terms: accepted")]);
    expect(readdirSync(path.dirname(file))).toContain("license-accepted.json");

    writeFileSync(file, "damaged"); // so that it is fetched anew
    await fetchManifestModel(model, options);
    expect(options.lines.length).toBe(1);
  });

  test.each([
    [true, "resolves"],
    [false, "rejects"],
  ])("are asked for at a terminal; the answer %s %s", async (answer, outcome) => {
    await using hub = await startHub();
    const questions: string[] = [];
    const confirm = async (question: string): Promise<boolean> => {
      questions.push(question);
      return answer;
    };
    const fetching = fetchManifestModel(model, { ...makeFetchOptions(hub.url), confirm });
    await fetching.then(
      () => expect(outcome).toBe("resolves"),
      (error: { code: string }) => expect(error.code).toBe("ERR_LICENSE_NOT_ACCEPTED"),
    );
    expect(questions).toEqual([expect.stringContaining("https://example.org/terms")]);
  });
});

function leavePart(modelsDir: string, name: string, bytes: Buffer): void {
  mkdirSync(path.join(modelsDir, "tiny"), { recursive: true });
  writeFileSync(path.join(modelsDir, "tiny", name), bytes);
}
