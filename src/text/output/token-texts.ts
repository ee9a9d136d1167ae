/**
 * Token id -> the text it adds to the output, cached. A decoded token then costs one array look-up;
 * only tokens that hold a part of a character go through a UTF-8 decoder.
 */

import type { Tokenizer } from "../text-types.ts";

export class TokenTexts {
  readonly #tokenizer: Tokenizer;
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** null: the token's bytes are no whole characters. */
  readonly #texts: (string | null | undefined)[];

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
    this.#texts = new Array<undefined>(tokenizer.vocabSize);
  }

  /** Empty for tokens that are not output; undefined when the bytes are no whole characters. */
  wholeText(id: number): string | undefined {
    let text = this.#texts[id];
    if (text === undefined) {
      text = this.#find(id);
      if (id >= 0 && id < this.#texts.length) this.#texts[id] = text;
    }
    return text ?? undefined;
  }

  bytes(id: number): Uint8Array {
    return this.#tokenizer.tokenBytes(id);
  }

  /** What a control token is spelled as; undefined for the ends of a generation. */
  controlText(id: number): string | undefined {
    return this.#tokenizer.eogIds.has(id) ? undefined : this.#tokenizer.tokenText(id);
  }

  #find(id: number): string | null {
    if (this.#tokenizer.eogIds.has(id)) return "";
    const bytes = this.#tokenizer.tokenBytes(id);
    if (bytes.length === 0) return "";
    try {
      return this.#utf8.decode(bytes);
    } catch (error) {
      if (error instanceof TypeError) return null;
      throw error;
    }
  }
}
