import { describe, expect, it } from "vitest";
import { FakeClock } from "../fake-clock.ts";
import { makeLane } from "../make-lane.ts";
import { settled } from "../session-fixture.ts";
import { createMemoryStore, makeStored } from "./make-stored.ts";

describe("stored responses in memory", () => {
  it("are forgotten by count and by age, each tenant's for itself", () => {
    const clock = new FakeClock();
    const store = createMemoryStore({ maxResponses: 2, ttlSeconds: 1 }, clock);
    store.put(makeStored({ id: "other", tenant: "b" }));
    for (const id of ["one", "two", "three"]) store.put(makeStored({ id }));
    expect(store.get("a", "one")).toBeUndefined();
    expect(store.get("a", "two")).toBeDefined();
    expect(store.get("b", "two")).toBeUndefined();
    expect(store.get("b", "other")).toBeDefined();
    clock.advance(1_001);
    expect(store.get("a", "two")).toBeUndefined();
  });

  it("are forgotten by bytes, and few of them hold a live sequence", async () => {
    const released: number[] = [];
    const store = createMemoryStore({ maxBytes: 12_000, maxSequences: 1 });
    const put = (id: string, sequenceId: number) => {
      const lane = makeLane({ responseId: id, numTokens: 83, sequenceId, released });
      store.put(makeStored({ id }), lane);
    };
    put("one", 1);
    put("two", 2);
    await settled();
    expect(released).toEqual([1]);
    expect(store.get("a", "one")).toBeDefined();
    put("three", 3);
    expect(store.get("a", "one")).toBeDefined();
    expect(store.get("a", "two")).toBeUndefined();
  });

  it("are gone when they are deleted, with their sequence", async () => {
    const released: number[] = [];
    const store = createMemoryStore({});
    store.put(makeStored({ id: "one" }), makeLane({ responseId: "one", sequenceId: 1, released }));
    expect(await store.delete("b", "one")).toBe(false);
    expect(await store.delete("a", "one")).toBe(true);
    expect(store.get("a", "one")).toBeUndefined();
    await settled();
    expect(released).toEqual([1]);
  });

  it("are searched for items by id", async () => {
    const store = createMemoryStore({});
    store.put(makeStored({ id: "one", text: "the first" }));
    const found = await store.findItems("a", new Set(["msg_of_one", "msg_of_two"]));
    expect([...found.keys()]).toEqual(["msg_of_one"]);
    expect((await store.findItems("b", new Set(["msg_of_one"]))).size).toBe(0);
  });
});
