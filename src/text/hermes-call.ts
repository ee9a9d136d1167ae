/**
 * One call of the Hermes form, `{"name": ..., "arguments": {...}}` with its keys in any order, read
 * character by character. The arguments leave as raw pieces of the model's text, never re-serialized.
 */

import { JsonScanner } from "./json-scanner.ts";

export type HermesCallStatus =
  /** More text is needed. */
  | "open"
  /** The whole object was read. */
  | "complete"
  /** This is no call (and nothing of it was announced). */
  | "rejected"
  /** Broken after it was announced, inside the arguments. */
  | "broken-arguments"
  /** Broken after its arguments were complete: the last character does not belong to it. */
  | "broken-end";

export class HermesCall {
  readonly #allowedNames: ReadonlySet<string>;
  readonly #scanner = new JsonScanner();
  /** Raw text of the top-level key or string value that is being read. */
  #raw = "";
  #key: string | undefined;
  #name: string | undefined;
  #arguments = "";
  #argumentsState: "none" | "open" | "whole" = "none";
  #announced = false;
  #status: HermesCallStatus = "open";

  constructor(allowedNames: ReadonlySet<string>) {
    this.#allowedNames = allowedNames;
  }

  get status(): HermesCallStatus {
    return this.#status;
  }

  /** The name, once it is certain that this is a call of an allowed function; then never again. */
  takeName(): string | undefined {
    if (this.#announced || this.#name === undefined || this.#argumentsState === "none") {
      return undefined;
    }
    this.#announced = true;
    return this.#name;
  }

  /** Arguments text that was read since the last time; only after the name was taken. */
  takeArguments(): string {
    if (!this.#announced) return "";
    const text = this.#arguments;
    this.#arguments = "";
    return text;
  }

  push(character: string): void {
    const { state: before } = this.#scanner;
    const wasTop = this.#scanner.depth === 1;
    this.#scanner.push(character);
    const { state, depth } = this.#scanner;
    if (state === "invalid") {
      this.#fail();
    } else if (this.#argumentsState === "open") {
      this.#arguments += character;
      if (depth === 1) this.#argumentsState = "whole";
    } else if (wasTop) {
      this.#readTopLevel(character, before);
    }
    if (state === "end" && this.#status === "open") {
      const isCall = this.#name !== undefined && this.#argumentsState === "whole";
      this.#status = isCall ? "complete" : "rejected";
    }
  }

  #readTopLevel(character: string, before: string): void {
    const { state } = this.#scanner;
    if (before === "value" && state !== "value") this.#startValue(character);
    else if (isStringPart(state) && !isStringPart(before)) this.#raw = character;
    else if (isStringPart(before)) {
      this.#raw += character;
      if (state === "colon") this.#key = String(JSON.parse(this.#raw));
      else if (state === "after-value" && this.#key === "name") this.#endName();
    }
  }

  #startValue(character: string): void {
    this.#raw = character;
    if (this.#key === "name" && character !== '"') this.#fail();
    if (this.#key !== "arguments") return;
    if (character !== "{" || this.#argumentsState !== "none") {
      this.#fail();
      return;
    }
    this.#argumentsState = "open";
    this.#arguments = character;
  }

  #endName(): void {
    const name = String(JSON.parse(this.#raw));
    if (this.#name !== undefined || !this.#allowedNames.has(name)) this.#fail();
    else this.#name = name;
  }

  #fail(): void {
    if (!this.#announced) this.#status = "rejected";
    else this.#status = this.#argumentsState === "whole" ? "broken-end" : "broken-arguments";
  }
}

function isStringPart(state: string): boolean {
  return state === "string" || state === "escape" || state === "unicode";
}
