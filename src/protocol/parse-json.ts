/** Bytes of a body or frame -> JSON object. Refuses what would hurt later: bad UTF-8, deep nesting. */
import { invalidRequest } from "./api-error.ts";

/** Real requests stay under 30; recursive code (JSON.stringify, templates) is safe far above this. */
const MAX_DEPTH = 200;

/** A history of thousands of items has tens of thousands; a value costs far more memory than its text. */
const MAX_VALUES = 500_000;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A field of the outermost object as it stands in the text. */
export interface RawField {
  readonly name: string;
  readonly raw: string;
}

/** What to parse by other means. */
export interface ApartFields {
  readonly names: ReadonlySet<string>;
  /** @throws {SyntaxError} */
  readonly parseField: (field: RawField) => unknown;
}

/** Shorter ones are parsed faster than recognised. */
const MIN_APART_CHARS = 256;
const PLACEHOLDER = "\0apart";

/** @throws {ApiError} 400 invalid_json */
export function parseJsonObject(
  payload: Uint8Array,
  apart?: ApartFields,
): Readonly<Record<string, unknown>> {
  const text = decode(payload);
  const spans = checkShape(text, apart?.names ?? NO_NAMES);
  const value = apart ? parseApart(text, spans, apart) : parse(text);
  if (isRecord(value)) return value;
  throw invalidJson("the JSON text is not an object");
}

/** Cuts the fields out, so that the rest is all that has to be parsed. */
function parseApart(
  text: string,
  spans: readonly FieldSpan[],
  { parseField }: ApartFields,
): unknown {
  const cut = spans.filter(({ start, end }) => end - start >= MIN_APART_CHARS);
  let rest = "";
  let done = 0;
  for (const { start, end } of cut) {
    rest += text.slice(done, start) + JSON.stringify(PLACEHOLDER);
    done = end;
  }
  const value = parse(rest + text.slice(done));
  if (!isRecord(value)) return value;
  const lastOfName = new Map(cut.map((span) => [span.name, span]));
  for (const { name, start, end } of lastOfName.values()) {
    // Else the name comes again, short or in another spelling, and that counts.
    if (value[name] !== PLACEHOLDER) continue;
    value[name] = orInvalid(() => parseField({ name, raw: text.slice(start, end) }));
  }
  return value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function decode(payload: Uint8Array): string {
  try {
    return utf8.decode(payload);
  } catch {
    throw invalidJson("the payload is not valid UTF-8");
  }
}

function parse(text: string): unknown {
  return orInvalid(() => JSON.parse(text));
}

function orInvalid(parseText: () => unknown): unknown {
  try {
    return parseText();
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

interface FieldSpan {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * Where the named fields of the outermost object have their values.
 * @throws {ApiError} 400 invalid_json; whether it is JSON at all is not looked at
 */
function checkShape(text: string, names: ReadonlySet<string>): readonly FieldSpan[] {
  const fields = new FieldSpans(text, names);
  let depth = 0;
  let numValues = 1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = endOfString(text, i);
      if (depth === 1) fields.string(i, end);
      i = end;
    } else if (code === COMMA) {
      numValues++;
      if (depth === 1) fields.comma(i);
    } else if (OPENING.has(code)) {
      numValues++;
      if (++depth > MAX_DEPTH) {
        throw invalidJson(`the JSON is nested deeper than ${MAX_DEPTH} levels`);
      }
    } else if (CLOSING.has(code) && --depth === 0) fields.comma(i);
    if (numValues > MAX_VALUES) throw invalidJson(`the JSON has more than ${MAX_VALUES} values`);
  }
  return fields.found;
}

/** Follows the strings and commas of the outermost object. */
class FieldSpans {
  readonly found: FieldSpan[] = [];
  readonly #text: string;
  readonly #names: ReadonlySet<string>;
  #isAtName = true;
  #open: { readonly name: string; readonly start: number } | undefined;

  constructor(text: string, names: ReadonlySet<string>) {
    this.#text = text;
    this.#names = names;
  }

  /** With its quotes at `start` and `end`. */
  string(start: number, end: number): void {
    if (!this.#isAtName) return;
    this.#isAtName = false;
    const name = this.#text.slice(start + 1, end);
    if (this.#names.has(name)) this.#open = { name, start: this.#text.indexOf(":", end) + 1 };
  }

  /** Or the brace that closes the object. */
  comma(at: number): void {
    if (this.#open) this.found.push({ ...this.#open, end: at });
    this.#open = undefined;
    this.#isAtName = true;
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
