import { expect, test } from "vitest";
import type { ContextItem } from "../../../src/protocol/responses-types.ts";
import { prefixesOf } from "../../../src/session/content-key.ts";
import { userMessage } from "./session-fixture.ts";

test("items that nobody looks for are not read", () => {
  const first = userMessage("short");
  const unread = {
    ...userMessage(""),
    get content(): never {
      throw new Error("it was read");
    },
  } as unknown as ContextItem;
  const long = userMessage("x".repeat(100));
  const charsOf = (...items: ContextItem[]) => prefixesOf("head", items).at(-1)?.chars;
  const chars = charsOf(first);
  expect(prefixesOf("head", [first, long, unread], chars)).toEqual(prefixesOf("head", [first]));
  expect(prefixesOf("head", [first, long], charsOf(first, long))).toHaveLength(3);
});
