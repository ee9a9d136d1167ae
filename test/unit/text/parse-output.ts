/** The events of an output, given whole or in pieces, without a tokenizer. */
import { expect } from "vitest";
import { createOutputParser } from "../../../src/text/output/output-parser.ts";
import type { OutputFormat, ToolFormat } from "../../../src/text/output/output-format.ts";
import type { OutputEvent } from "../../../src/text/text-types.ts";
import { joinEvents } from "./text-fixtures.ts";

/** Formats whose calls stand in blocks: all but harmony. */
export const BLOCK_FORMATS: readonly ToolFormat[] = [
  "hermes",
  "qwen-coder",
  "seed",
  "glm",
  "minimax",
  "dsml",
  "llama",
  "pythonic",
  "mistral",
  "mistral-args",
  "granite",
  "deepseek",
  "kimi",
  "command-r",
  "command-r7b",
  "apertus",
  "gemma",
];

export function parsePieces(
  pieces: readonly string[],
  format: OutputFormat,
): readonly OutputEvent[] {
  const events: OutputEvent[] = [];
  const output = pieces.join("");
  const parser = createOutputParser(format, (event) => {
    if (!("end" in event)) {
      events.push(event);
      return;
    }
    const { type, delta, end } = event;
    expect(output.slice(0, end).endsWith(delta), "it stands where the parser says").toBe(true);
    events.push({ type, delta });
  });
  if (parser === undefined) return [{ type: "text", delta: pieces.join("") }];
  for (const piece of pieces) parser.push(piece);
  parser.finish();
  return joinEvents(events);
}

export function parseOutput(output: string, format: OutputFormat): readonly OutputEvent[] {
  return parsePieces([output], format);
}

export const text = (delta: string): OutputEvent => ({ type: "text", delta });
export const thought = (delta: string): OutputEvent => ({ type: "reasoning", delta });

export function call(name: string, args: string): readonly OutputEvent[] {
  const start: OutputEvent = { type: "call_start", name };
  return [start, { type: "call_arguments", delta: args }, { type: "call_end" }];
}
