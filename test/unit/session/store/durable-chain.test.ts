/** Chains of one server that another one, started later on the same folder, goes on with. */
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { LmdbArchive } from "../../../../src/session/store/lmdb-archive.ts";
import {
  DEFAULT_STORE_LIMITS,
  ResponseStore,
} from "../../../../src/session/store/response-store.ts";
import { FakeClock } from "../fake-clock.ts";
import { createFixture, type Fixture, says, userMessage } from "../session-fixture.ts";
import { makeStored } from "./make-stored.ts";

const newFolder = () => mkdtempSync(path.join(tmpdir(), "warmloop-chain-"));

function startOn(folder: string): Fixture {
  const archive = LmdbArchive.open(folder, DEFAULT_STORE_LIMITS, () => 1_700_000_001);
  return createFixture({ archive });
}

function bytesIn(folder: string): string {
  const files = readdirSync(folder);
  return files.map((file) => readFileSync(path.join(folder, file), "latin1")).join("");
}

describe("a stored response", () => {
  test("is continued after a restart, with the context and date it had", async () => {
    const folder = newFolder();
    const before = startOn(folder);
    before.endpoint.script.push(says("The first answer."), says("The second answer."));
    const input = [userMessage("my question")];
    const first = await before.run({ store: true, instructions: "Be brief.", input });
    const previousResponseId = first.response.id;
    const second = await before.run({ store: true, instructions: "Be brief.", previousResponseId });
    await before.session.close();

    const after = startOn(folder);
    after.clock.advance(3_600_000);
    after.endpoint.script.push(says("The third answer."));
    const third = await after.run({
      store: true,
      instructions: "Be brief.",
      previousResponseId: second.response.id,
      input: [userMessage("and now?")],
    });
    expect(third.response.status).toBe("completed");
    const [request] = after.endpoint.requests;
    const prompt = after.tokenizer.textOf(Int32Array.from(request?.allTokens ?? []));
    const order = ["Be brief.", "my question", "The first", "The second", "and now?"];
    expect(order.map((text) => prompt.indexOf(text))).toEqual(
      order.map((text) => prompt.indexOf(text)).sort((left, right) => left - right),
    );
    expect(prompt).toContain("my question");
    await after.session.close();
  });

  test("of another tenant, or one that was not stored, is unknown after a restart", async () => {
    const folder = newFolder();
    const before = startOn(folder);
    before.endpoint.script.push(says("A"), says("B"));
    const stored = await before.run({ store: true }, { tenant: "a" });
    const unstored = await before.run({ store: false }, { tenant: "a" });
    await before.session.close();
    const after = startOn(folder);
    for (const [tenant, { response }] of [
      ["b", stored],
      ["a", unstored],
    ] as const) {
      const run = after.run({ previousResponseId: response.id }, { tenant });
      await expect(run).rejects.toMatchObject({ body: { code: "previous_response_not_found" } });
    }
    await after.session.close();
  });

  test("is on disk with its texts; one that is not stored leaves nothing there", async () => {
    const folder = newFolder();
    const fixture = startOn(folder);
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("kept answer"), says("secret answer"), says("hidden answer"));
    await fixture.run({ store: true, input: [userMessage("kept question")] });
    await fixture.run({ store: false, input: [userMessage("secret question")] });
    await socket.run({ store: false, input: [userMessage("hidden question")] });
    await fixture.session.close();
    const bytes = bytesIn(folder);
    expect(bytes).toContain("kept question");
    expect(bytes).toContain("kept answer");
    expect(bytes).not.toMatch(/secret|hidden/);
  });

  test("is found by a second server on the same folder", async () => {
    const folder = newFolder();
    const one = startOn(folder);
    const other = startOn(folder);
    one.endpoint.script.push(says("A"));
    other.endpoint.script.push(says("B"));
    const { response } = await one.run({ store: true });
    await one.session.close();
    const chained = await other.run({ store: true, previousResponseId: response.id });
    expect(chained.response.status).toBe("completed");
    await other.session.close();
  });

  test("is gone from a server's memory when another one has deleted it", async () => {
    const folder = newFolder();
    const openStore = () =>
      new ResponseStore({
        clock: new FakeClock(),
        limits: DEFAULT_STORE_LIMITS,
        archive: LmdbArchive.open(folder, DEFAULT_STORE_LIMITS, () => 1_700_000_001),
        reportError: (error) => {
          throw error;
        },
      });
    const [one, other] = [openStore(), openStore()];
    const stored = makeStored({ id: "resp_shared" });
    one.put(stored);
    expect(other.get("a", "resp_shared")).toBeUndefined();
    await one.flush();
    const { response, chain } = stored;
    expect(other.get("a", "resp_shared")?.response).toEqual(response);
    expect(await other.chain("a", "resp_shared")).toEqual(chain);
    expect(await other.delete("a", "resp_shared")).toBe(true);
    await expect.poll(() => one.get("a", "resp_shared")).toBeUndefined();
    await Promise.all([one.close(), other.close()]);
  });
});
