/**
 * A call as one JSON object, `{"name": ..., "arguments": {...}}` with its keys in any order. The
 * arguments leave as raw pieces of the model's text, never re-serialized.
 */

import { CallReader } from "./call-reader.ts";
import { JsonScanner } from "./json-scanner.ts";

/** What models call the two keys. */
const NAME_KEYS: ReadonlySet<string> = new Set(["name", "tool_name"]);
const ARGUMENTS_KEYS: ReadonlySet<string> = new Set(["arguments", "parameters"]);

export class JsonCall extends CallReader {
  readonly #allowedNames: ReadonlySet<string>;
  /** Where no marker says that this is a call, its first key must. */
  readonly #isBare: boolean;
  readonly #scanner = new JsonScanner();
  /** Raw text of the top-level key or string value that is being read. */
  #raw = "";
  #key: string | undefined;
  #name: string | undefined;
  #hasArguments = false;

  constructor(allowedNames: ReadonlySet<string>, isBare: boolean) {
    super();
    this.#allowedNames = allowedNames;
    this.#isBare = isBare;
  }

  push(character: string): void {
    const { state: before } = this.#scanner;
    const wasTop = this.#scanner.depth === 1;
    this.#scanner.push(character);
    const { state, depth } = this.#scanner;
    if (state === "invalid") {
      this.fail();
    } else if (this.#hasArguments && !this.hasAllArguments) {
      this.addArguments(character);
      if (depth === 1) this.endArguments();
    } else if (wasTop) {
      this.#readTopLevel(character, before);
    }
    if (this.status !== "open" || state !== "end") return;
    if (this.#name !== undefined && this.hasAllArguments) this.complete();
    else this.fail();
  }

  #readTopLevel(character: string, before: string): void {
    const { state } = this.#scanner;
    if (before === "value" && state !== "value") this.#startValue(character);
    else if (isStringPart(state) && !isStringPart(before)) this.#raw = character;
    else if (isStringPart(before)) {
      this.#raw += character;
      if (state === "colon") this.#endKey();
      else if (state === "after-value" && this.#isKey(NAME_KEYS)) this.#endName();
    }
  }

  #endKey(): void {
    const isFirst = this.#key === undefined;
    this.#key = String(JSON.parse(this.#raw));
    if (this.#isBare && isFirst && !this.#isKey(NAME_KEYS) && this.#key !== "type") this.fail();
  }

  #startValue(character: string): void {
    this.#raw = character;
    if (this.#isKey(NAME_KEYS) && character !== '"') this.fail();
    if (!this.#isKey(ARGUMENTS_KEYS)) return;
    if (character !== "{" || this.#hasArguments) {
      this.fail();
      return;
    }
    this.#hasArguments = true;
    this.addArguments(character);
    if (this.#name !== undefined) this.announce(this.#name);
  }

  #endName(): void {
    const name = String(JSON.parse(this.#raw));
    if (this.#name !== undefined || !this.#allowedNames.has(name)) {
      this.fail();
      return;
    }
    this.#name = name;
    if (this.#hasArguments) this.announce(name);
  }

  #isKey(keys: ReadonlySet<string>): boolean {
    return this.#key !== undefined && keys.has(this.#key);
  }
}

function isStringPart(state: string): boolean {
  return state === "string" || state === "escape" || state === "unicode";
}
