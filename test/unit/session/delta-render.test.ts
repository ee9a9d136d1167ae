import { describe, expect, it } from "vitest";
import { continuationSuffix } from "../../../src/session/delta-render.ts";
import type { RenderedText } from "../../../src/text/text-types.ts";

const text = (value: string) => value as RenderedText;
const MARKERS = ["<end>", "<eos>"];

describe("continuationSuffix", () => {
  it("begins with the marker that closes the parent's output", () => {
    const parent = { promptText: text("u:hi|a:"), closedText: text("u:hi|a:yo<end>\n") };
    const next = text("u:hi|a:yo<end>\nu:more|a:");
    expect(continuationSuffix(parent, next, MARKERS)).toBe("<end>\nu:more|a:");
  });

  it("is all that follows a parent without output", () => {
    const parent = { promptText: text("s:be kind<end>"), closedText: undefined };
    expect(continuationSuffix(parent, text("s:be kind<end>u:hi|a:"), MARKERS)).toBe("u:hi|a:");
  });

  it("does not exist when the template changed what stands before the output", () => {
    const parent = { promptText: text("u:hi|a:"), closedText: text("u:hi|a:yo<end>") };
    expect(continuationSuffix(parent, text("u:HI|a:yo<end>u:more"), MARKERS)).toBeUndefined();
  });

  it("does not exist when the finished turn starts otherwise than the generation prompt", () => {
    const parent = { promptText: text("u:hi|a:<think>"), closedText: text("u:hi|a:yo<end>") };
    expect(continuationSuffix(parent, text("u:hi|a:yo<end>u:more"), MARKERS)).toBeUndefined();
  });

  it("does not exist when no marker closes the output", () => {
    const parent = { promptText: text("<end>a:"), closedText: text("<end>a:yo") };
    expect(continuationSuffix(parent, text("<end>a:you:more"), MARKERS)).toBeUndefined();
  });
});
