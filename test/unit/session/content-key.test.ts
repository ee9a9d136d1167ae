import { expect, test } from "vitest";
import type { ContextItem } from "../../../src/protocol/responses-types.ts";
import { contentChars, prefixKeys } from "../../../src/session/content-key.ts";
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
  const chars = contentChars([first]);
  expect(prefixKeys("head", [first, long, unread], chars)).toEqual(prefixKeys("head", [first]));
  expect(prefixKeys("head", [first, long], chars + contentChars([long]))).toHaveLength(3);
});
