/** Bytes of a body or frame -> JSON object. Refuses what would hurt later: bad UTF-8, deep nesting. */
import { invalidRequest } from "./api-error.ts";

/** Real requests stay under 30; recursive code (JSON.stringify, templates) is safe far above this. */
const MAX_DEPTH = 200;

/** A history of thousands of items has tens of thousands; a value costs far more memory than its text. */
const MAX_VALUES = 500_000;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** @throws {ApiError} 400 invalid_json */
export function parseJsonObject(payload: Uint8Array): Readonly<Record<string, unknown>> {
  const text = decode(payload);
  checkShape(text);
  const value = parse(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw invalidJson("the JSON text is not an object");
}

function decode(payload: Uint8Array): string {
  try {
    return utf8.decode(payload);
  } catch {
    throw invalidJson("the payload is not valid UTF-8");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidJson("the payload is not valid JSON");
  }
}

function invalidJson(message: string): Error {
  return invalidRequest("invalid_json", message);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);

/** @throws {ApiError} 400 invalid_json; whether it is JSON at all is not looked at */
function checkShape(text: string): void {
  let depth = 0;
  let numValues = 1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === COMMA) numValues++;
    else if (OPENING.has(code)) {
      numValues++;
      if (++depth > MAX_DEPTH) {
        throw invalidJson(`the JSON is nested deeper than ${MAX_DEPTH} levels`);
      }
    } else if (CLOSING.has(code)) depth--;
    if (numValues > MAX_VALUES) throw invalidJson(`the JSON has more than ${MAX_VALUES} values`);
  }
}

/** Index of the closing quote of the string that opens at `start`; the text's end without one. */
function endOfString(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
  } while (isEscaped(text, end));
  return end;
}

/** An odd number of backslashes stands in front. */
function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (index - first) % 2 === 1;
}
