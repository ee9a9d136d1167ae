import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { LmdbArchive } from "../../../../src/session/store/lmdb-archive.ts";
import { ThreadedArchive } from "../../../../src/session/store/threaded-archive.ts";
import { makeStored } from "./make-stored.ts";

const LIMITS = { maxResponses: 10, maxBytes: 100_000_000, ttlSeconds: 100 };
const LARGE = "grüße ".repeat(100_000);
const seconds = () => Math.floor(Date.now() / 1000);

function openArchive(folder: string): ThreadedArchive {
  const archive = LmdbArchive.open(folder, LIMITS, seconds);
  return new ThreadedArchive(archive, { folder, limits: LIMITS });
}

test("large and small responses come back, from this process and from the next", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "warmloop-threaded-"));
  const createdAt = seconds();
  const sent = [
    makeStored({ id: "large", text: LARGE, createdAt }),
    makeStored({ id: "small", createdAt }),
  ];
  for (const isFirst of [true, false]) {
    const archive = openArchive(folder);
    if (isFirst) for (const stored of sent) await archive.put(stored);
    await archive.touch("a", "large");
    for (const { chain, response, inputItems } of sent) {
      const { id } = response;
      const shown = archive.get("a", id);
      expect(archive.has("a", id)).toBe(true);
      expect(shown?.response).toEqual(response);
      expect(Buffer.compare(shown?.inputItems.json ?? Buffer.of(), inputItems.json)).toBe(0);
      expect(archive.findByItem("a", `msg_of_${id}`)).toBe(id);
      expect(await archive.chain("a", id)).toEqual(chain);
    }
    await archive.close();
  }
});

test("a large response can be deleted, and another tenant's is not there", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "warmloop-threaded-"));
  const archive = openArchive(folder);
  await archive.put(makeStored({ text: LARGE, createdAt: seconds() }));
  expect(await archive.chain("b", "resp_1")).toBeUndefined();
  await archive.delete("a", "resp_1");
  expect(archive.has("a", "resp_1")).toBe(false);
  expect(await archive.chain("a", "resp_1")).toBeUndefined();
  await archive.close();
});
