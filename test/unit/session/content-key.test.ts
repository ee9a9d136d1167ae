import { expect, test } from "vitest";
import type { ContextItem, FunctionTool } from "../../../src/protocol/responses-types.ts";
import { HeadKeys, prefixesOf } from "../../../src/session/content-key.ts";
import { userMessage, weatherTool } from "./session-fixture.ts";

test("heads have the same key when they show the same, and their tools are read once", () => {
  const keys = new HeadKeys();
  const head = { instructions: "Help.", date: new Date(0), reasoningEffort: undefined };
  const keyOf = (tools: readonly FunctionTool[]) => keys.keyOf("t", { ...head, tools });
  let numReads = 0;
  const counted: FunctionTool = {
    ...weatherTool,
    get description() {
      numReads++;
      return weatherTool.description;
    },
  };
  const tools = [counted];
  expect(keyOf(tools)).toBe(keyOf(tools));
  expect(numReads).toBe(1);
  expect(keyOf(tools)).toBe(keyOf([weatherTool]));
  expect(keyOf(tools)).not.toBe(keyOf([{ ...weatherTool, name: "other" }]));
  expect(keyOf(tools)).not.toBe(keyOf([]));
});

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
