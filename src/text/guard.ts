/**
 * Keeps message content from forging control tokens. Rendered prompts mix template text, whose
 * `<|im_end|>` must become the control token, with content, whose `<|im_end|>` must stay text. The
 * guard puts a private break inside every control literal of the content before rendering; the
 * tokenizer looks for control literals in the guarded text and takes the breaks out of what remains.
 *
 * The breaks are made of Unicode noncharacters, which no tokenizer, filter or trim treats specially;
 * content that contains them is escaped, so it comes through unchanged.
 */

import type { ControlLiterals } from "./control-literals.ts";
import type { RenderedText } from "./text-types.ts";

const ESCAPE = "\uFDD0";
const BREAK = `${ESCAPE}\uFDD1`;
const ESCAPED_ESCAPE = ESCAPE + ESCAPE;

export class Guard {
  readonly #literals: ControlLiterals;
  /** Content that starts or ends with a part of a literal could complete one across the border. */
  readonly #literalStarts = new Set<string>();
  readonly #literalEnds = new Set<string>();
  readonly #maxPartLength: number;

  constructor(literals: ControlLiterals) {
    this.#literals = literals;
    let maxLength = 1;
    for (const text of literals.texts) {
      maxLength = Math.max(maxLength, text.length);
      for (let at = 1; at < text.length; at++) {
        this.#literalStarts.add(text.slice(0, at));
        this.#literalEnds.add(text.slice(at));
      }
    }
    this.#maxPartLength = maxLength - 1;
  }

  guard(content: string): RenderedText {
    const text = content.toWellFormed();
    if (text === "") return text as RenderedText;
    return (this.#borderBreak(text, "start") +
      this.#breakLiterals(text) +
      this.#borderBreak(text, "end")) as RenderedText;
  }

  /** Guards every string and key of a JSON value. */
  guardJson(value: unknown): unknown {
    if (typeof value === "string") return this.guard(value);
    if (Array.isArray(value)) return value.map((element) => this.guardJson(element));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, element]) => [this.guard(key), this.guardJson(element)]),
    );
  }

  #breakLiterals(text: string): string {
    let guarded = "";
    let done = 0;
    for (let hit = this.#literals.find(text, 0); hit; hit = this.#literals.find(text, done)) {
      const firstLength = String.fromCodePoint(hit.literal.codePointAt(0) ?? 0).length;
      guarded += escapeText(text.slice(done, hit.index + firstLength)) + BREAK;
      done = hit.index + firstLength; // literals may overlap: look again behind the first character
    }
    return guarded + escapeText(text.slice(done));
  }

  #borderBreak(text: string, side: "start" | "end"): string {
    const parts = side === "start" ? this.#literalEnds : this.#literalStarts;
    const longest = Math.min(this.#maxPartLength, text.length);
    for (let length = 1; length <= longest; length++) {
      if (parts.has(side === "start" ? text.slice(0, length) : text.slice(-length))) return BREAK;
    }
    return "";
  }
}

/** The text as it was before `Guard.guard`. */
export function unguard(text: string): string {
  return text.replace(/\uFDD0([\uFDD0\uFDD1])/g, (_pair, second: string) =>
    second === ESCAPE ? ESCAPE : "",
  );
}

function escapeText(text: string): string {
  return text.replaceAll(ESCAPE, ESCAPED_ESCAPE);
}
