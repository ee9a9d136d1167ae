import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { NO_SENT_ITEMS, readSentItems } from "../../../../src/protocol/sent-items.ts";
import { LmdbArchive } from "../../../../src/session/store/lmdb-archive.ts";

const WRITER = path.join(import.meta.dirname, "write-forever.ts");
const LIMITS = { maxResponses: 20, maxBytes: 100_000_000, ttlSeconds: 100 };

function startWriter(folder: string): ChildProcess {
  return spawn(process.execPath, ["--import", "tsx", WRITER, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Kills the writer in the middle of its work. Returns the last ids that it said are written. */
async function killAfter(writer: ChildProcess, numWritten: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const id of createInterface({ input: writer.stdout! })) {
    ids.push(id);
    if (ids.length === numWritten) writer.kill("SIGKILL");
  }
  if (writer.exitCode === null && writer.signalCode === null) await once(writer, "exit");
  return ids.slice(-5);
}

test("killing a server leaves whole responses, and none of those written is lost", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "warmloop-killed-"));
  for (const numWritten of [1, 8, 23]) {
    const ids = await killAfter(startWriter(folder), numWritten);
    const archive = LmdbArchive.open(folder, LIMITS, () => 1_700_000_000);
    for (const id of ids) {
      const [item] = readSentItems(archive.get("a", id)?.inputItems ?? NO_SENT_ITEMS, 0, 1);
      const text = String(item?.content);
      expect(text).toBe(`${id} `.repeat(text.length > 1_000 ? 20_000 : 10));
      expect(archive.findByItem("a", `msg_of_${id}`)).toBe(id);
      expect((await archive.chain("a", id))?.items).toMatchObject([{ content: [{ text }] }]);
    }
    await archive.close();
  }
});

test("two servers write into one folder at the same time", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "warmloop-shared-"));
  const writers = [startWriter(folder), startWriter(folder)];
  const written = await Promise.all(writers.map((writer) => killAfter(writer, 8)));
  const archive = LmdbArchive.open(folder, LIMITS, () => 1_700_000_000);
  const last = written.map((ids) => ids.at(-1) ?? "");
  for (const id of last) expect(archive.get("a", id)?.response.id ?? id).toBe(id);
  const numHeld = written.flat().filter((id) => archive.has("a", id)).length;
  expect(numHeld).toBeGreaterThan(0);
  await archive.close();
});
