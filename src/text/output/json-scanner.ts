/**
 * Recognizes one JSON object character by character. It builds no value: it says after each character
 * where in the object the text stands, so that a caller can cut raw substrings out of a stream.
 *
 * Source: RFC 8259.
 */

export type JsonState =
  | "value"
  | "first-element"
  | "first-key"
  | "key"
  | "colon"
  | "after-value"
  | "string"
  | "escape"
  | "unicode"
  | "scalar"
  | "end"
  | "invalid";

const SPACE = /[ \t\n\r]/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export class JsonScanner {
  #state: JsonState = "value";
  readonly #open: ("{" | "[")[] = [];
  #stringIsKey = false;
  #unicodeDigits = 0;
  #scalar = "";

  /** Where the next character is expected. */
  get state(): JsonState {
    return this.#state;
  }

  /** Open brackets. */
  get depth(): number {
    return this.#open.length;
  }

  push(character: string): void {
    this.#state = this.#next(character);
  }

  #next(c: string): JsonState {
    switch (this.#state) {
      case "string":
        return this.#inString(c);
      case "escape":
        return this.#afterBackslash(c);
      case "unicode":
        if (!/[0-9A-Fa-f]/.test(c)) return "invalid";
        return --this.#unicodeDigits === 0 ? "string" : "unicode";
      case "scalar":
        return this.#inScalar(c);
      case "end":
      case "invalid":
        return "invalid";
      default:
        return SPACE.test(c) ? this.#state : this.#atToken(c);
    }
  }

  #atToken(c: string): JsonState {
    switch (this.#state) {
      case "value":
        return this.#startValue(c);
      case "first-element":
        return c === "]" ? this.#close() : this.#startValue(c);
      case "first-key":
        return c === "}" ? this.#close() : this.#startKey(c);
      case "key":
        return this.#startKey(c);
      case "colon":
        return c === ":" ? "value" : "invalid";
      default:
        return this.#afterValue(c);
    }
  }

  #startValue(c: string): JsonState {
    if (c === "{" || c === "[") {
      this.#open.push(c);
      return c === "{" ? "first-key" : "first-element";
    }
    if (this.depth === 0) return "invalid"; // only an object may stand at the top
    if (c === '"') {
      this.#stringIsKey = false;
      return "string";
    }
    if (!/[-0-9tfn]/.test(c)) return "invalid";
    this.#scalar = c;
    return "scalar";
  }

  #startKey(c: string): JsonState {
    this.#stringIsKey = true;
    return c === '"' ? "string" : "invalid";
  }

  #inString(c: string): JsonState {
    if (c === "\\") return "escape";
    if (c === '"') return this.#stringIsKey ? "colon" : "after-value";
    return c < " " ? "invalid" : "string";
  }

  #afterBackslash(c: string): JsonState {
    if (c !== "u") return '"\\/bfnrt'.includes(c) ? "string" : "invalid";
    this.#unicodeDigits = 4;
    return "unicode";
  }

  #inScalar(c: string): JsonState {
    if (/[-+.0-9A-Za-z]/.test(c)) {
      this.#scalar += c;
      return "scalar";
    }
    const isWhole = NUMBER.test(this.#scalar) || /^(?:true|false|null)$/.test(this.#scalar);
    if (!isWhole) return "invalid";
    return SPACE.test(c) ? "after-value" : this.#afterValue(c);
  }

  #afterValue(c: string): JsonState {
    const inObject = this.#open.at(-1) === "{";
    if (c === ",") return inObject ? "key" : "value";
    return c === (inObject ? "}" : "]") ? this.#close() : "invalid";
  }

  #close(): JsonState {
    this.#open.pop();
    return this.depth === 0 ? "end" : "after-value";
  }
}
