import { expect, test } from "vitest";
import { exceedsChars, jsonChars } from "../../../src/base/json-chars.ts";

test("strings and keys count, at any depth, and nothing else", () => {
  expect(jsonChars("four")).toBe(4);
  expect(jsonChars([{ ab: "c", d: ["ef", 12, null, true, undefined] }, ["g"]])).toBe(7);
});

test("values exceed a size together", () => {
  expect(exceedsChars(["abc", { d: "e" }], 5)).toBe(false);
  expect(exceedsChars(["abc", { d: "e" }], 4)).toBe(true);
});
