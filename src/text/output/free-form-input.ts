/**
 * The input of a free-form tool, which models write as the one argument `input` of a call: the text
 * of that JSON string, unescaped as it streams.
 */

import { JsonScanner } from "./json-scanner.ts";
import { wholeCharacters } from "./json-text.ts";

const KEY = '"input"';

export class FreeFormInput {
  readonly #scanner = new JsonScanner();
  /** The key, or the escape, that is being read. */
  #raw = "";
  #isInput = false;
  /** The first half of a surrogate pair. */
  #held = "";

  /** @returns the text that the arguments' next piece adds */
  push(args: string): string {
    let text = this.#held;
    for (let at = 0; at < args.length; at++) text += this.#pushCharacter(args.charAt(at));
    const whole = wholeCharacters(text);
    this.#held = text.slice(whole.length);
    return whole;
  }

  #pushCharacter(character: string): string {
    const { state: before, depth } = this.#scanner;
    this.#scanner.push(character);
    if (depth !== 1) return "";
    const { state } = this.#scanner;
    const wasString = before === "string" || before === "escape" || before === "unicode";
    if (!wasString) {
      if (state === "string") this.#raw = before === "value" ? "" : character;
      return "";
    }
    this.#raw += character;
    if (state === "colon") this.#isInput = this.#raw === KEY;
    if (!this.#isInput || state !== "string") return "";
    const unescaped = String(JSON.parse(`"${this.#raw}"`));
    this.#raw = "";
    return unescaped;
  }
}
