import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { joinAborts } from "../../../src/base/joined-abort.ts";

describe("joined aborts", () => {
  it("abort with any of them, also with one that has", () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const joined = joinAborts([first.signal, second.signal]);
    expect(joined.signal.aborted).toBe(false);
    second.abort();
    expect(joined.signal.aborted).toBe(true);
    expect(joinAborts([first.signal, second.signal]).signal.aborted).toBe(true);
  });

  it("leave nothing at the others when they are detached", () => {
    const source = new AbortController();
    const joined = joinAborts([source.signal]);
    joined.detach();
    expect(getEventListeners(source.signal, "abort")).toHaveLength(0);
    source.abort();
    expect(joined.signal.aborted).toBe(false);
  });
});
