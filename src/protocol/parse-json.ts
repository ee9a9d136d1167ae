/** Bytes of a body or frame -> JSON object. Refuses what would hurt later: bad UTF-8, deep nesting. */
import { invalidRequest } from "./api-error.ts";

/** Real requests stay under 30; recursive code (JSON.stringify, templates) is safe far above this. */
const MAX_DEPTH = 200;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** @throws {ApiError} 400 invalid_json */
export function parseJsonObject(payload: Uint8Array): Readonly<Record<string, unknown>> {
  const text = decode(payload);
  if (!isShallow(text)) throw invalidJson(`the JSON is nested deeper than ${MAX_DEPTH} levels`);
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
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);

function isShallow(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (OPENING.has(code) && ++depth > MAX_DEPTH) return false;
    else if (CLOSING.has(code)) depth--;
  }
  return true;
}

/** Index of the closing quote of the string that opens at `start`; the text's end without one. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === QUOTE) return i;
  }
  return text.length;
}
