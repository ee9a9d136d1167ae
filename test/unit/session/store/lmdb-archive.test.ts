import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { open } from "lmdb";
import { describe, expect, test } from "vitest";
import { LmdbArchive } from "../../../../src/session/store/lmdb-archive.ts";
import type { ArchiveLimits } from "../../../../src/session/store/response-archive.ts";
import { StoreFolderError } from "../../../../src/session/store/store-folder.ts";
import { makeStored } from "./make-stored.ts";

const LIMITS: ArchiveLimits = { maxResponses: 10, maxBytes: 1_000_000, ttlSeconds: 100 };
const NOW = 1_700_000_000;

function newFolder(): string {
  return path.join(mkdtempSync(path.join(tmpdir(), "warmloop-archive-")), "store");
}

function openArchive(folder: string, limits: Partial<ArchiveLimits> = {}, now = () => NOW) {
  return LmdbArchive.open(folder, { ...LIMITS, ...limits }, now);
}

const idsIn = (archive: LmdbArchive, ids: readonly string[], tenant = "a") =>
  ids.filter((id) => archive.has(tenant, id));

describe("an archive of responses", () => {
  test("gives back what was put, also when it is opened again", async () => {
    const folder = newFolder();
    const { chain, ...shown } = makeStored({ text: "grüße \u{1f600}" });
    const first = openArchive(folder);
    await first.put({ ...shown, chain });
    expect(first.get("a", "resp_1")).toEqual(shown);
    await first.close();
    const second = openArchive(folder);
    expect(second.get("a", "resp_1")).toEqual(shown);
    expect(await second.chain("a", "resp_1")).toEqual(chain);
    await second.close();
  });

  test("has no chain of a response that nothing can continue from", async () => {
    const archive = openArchive(newFolder());
    await archive.put({ ...makeStored({ status: "failed" }), chain: undefined });
    expect(archive.get("a", "resp_1")?.response.status).toBe("failed");
    expect(await archive.chain("a", "resp_1")).toBeUndefined();
    await archive.close();
  });

  test("shows a response to its tenant only", async () => {
    const archive = openArchive(newFolder());
    await archive.put(makeStored({ tenant: "a" }));
    expect(archive.get("b", "resp_1")).toBeUndefined();
    expect(archive.findByItem("b", "msg_of_resp_1")).toBeUndefined();
    await archive.delete("b", "resp_1");
    expect(archive.findByItem("a", "msg_of_resp_1")).toBe("resp_1");
    await archive.close();
  });

  test("keeps the last used ones of each tenant", async () => {
    const archive = openArchive(newFolder(), { maxResponses: 2 });
    await archive.put(makeStored({ id: "other", tenant: "b" }));
    await archive.put(makeStored({ id: "one" }));
    await archive.put(makeStored({ id: "two" }));
    await archive.touch("a", "one");
    await archive.put(makeStored({ id: "three" }));
    expect(idsIn(archive, ["one", "two", "three"])).toEqual(["one", "three"]);
    expect(idsIn(archive, ["other"], "b")).toEqual(["other"]);
    expect(archive.findByItem("a", "msg_of_two")).toBeUndefined();
    await archive.close();
  });

  test("is bounded in bytes, and a response that alone is too large is not kept", async () => {
    const archive = openArchive(newFolder(), { maxBytes: 10_000 });
    const text = "x".repeat(1_000); // twice in each
    for (const id of ["one", "two", "three", "four"]) await archive.put(makeStored({ id, text }));
    expect(idsIn(archive, ["one", "two", "three", "four"])).toEqual(["two", "three", "four"]);
    await archive.put(makeStored({ id: "huge", text: "x".repeat(6_000) }));
    expect(idsIn(archive, ["huge", "four"])).toEqual(["four"]);
    await archive.close();
  });

  test("forgets by age, and frees what expired when something is put", async () => {
    let now = NOW;
    const archive = openArchive(newFolder(), { maxResponses: 2 }, () => now);
    await archive.put(makeStored({ id: "old", createdAt: NOW }));
    now += 100;
    expect(archive.get("a", "old")).toBeUndefined();
    await archive.put(makeStored({ id: "one", createdAt: now }));
    await archive.put(makeStored({ id: "two", createdAt: now }));
    now -= 100;
    expect(idsIn(archive, ["old", "one", "two"])).toEqual(["one", "two"]);
    await archive.close();
  });

  test("put again replaces, and counts once", async () => {
    const archive = openArchive(newFolder(), { maxResponses: 2 });
    for (const id of ["one", "two", "two", "two"]) await archive.put(makeStored({ id }));
    expect(idsIn(archive, ["one", "two"])).toEqual(["one", "two"]);
    await archive.close();
  });

  test("any text may be asked for as an id", async () => {
    const archive = openArchive(newFolder());
    for (const id of ["", "x".repeat(10_000), "\0", "\uffff", "../a"]) {
      expect(archive.get("a", id)).toBeUndefined();
      expect(archive.findByItem("a", id)).toBeUndefined();
      await archive.delete("a", id);
    }
    await archive.close();
  });
});

describe("the folder of an archive", () => {
  test("is for its owner alone", async () => {
    const folder = newFolder();
    const archive = openArchive(folder);
    await archive.put(makeStored());
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(folder)) {
      expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
    }
    await archive.close();
  });

  test("is refused when a file is in its place or in the place of its data", () => {
    const folder = newFolder();
    writeFileSync(folder, "a file");
    expect(() => openArchive(folder)).toThrow(StoreFolderError);
    const foreign = newFolder();
    mkdirSync(foreign);
    writeFileSync(path.join(foreign, "data.mdb"), "something else entirely\n".repeat(1_000));
    expect(() => openArchive(foreign)).toThrow("is no store of warmloop");
  });

  test("is refused when its data was cut short", async () => {
    const folder = newFolder();
    const archive = openArchive(folder);
    await archive.put(makeStored({ text: "x".repeat(100_000) }));
    await archive.close();
    const file = path.join(folder, "data.mdb");
    truncateSync(file, statSync(file).size / 2);
    expect(() => openArchive(folder)).toThrow("was cut short");
  });

  test("is refused when another program's data is in it", async () => {
    const folder = newFolder();
    const other = open({ path: folder, noSubdir: false });
    await other.openDB("theirs", { encoding: "json" }).put("key", 1);
    await other.close();
    expect(() => openArchive(folder)).toThrow("holds another program's data");
  });
});
