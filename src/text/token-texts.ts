/**
 * Token id -> the text it adds to the output, cached. A decoded token then costs one array look-up;
 * only tokens that hold a part of a character go through a UTF-8 decoder.
 */

import type { Tokenizer } from "./text-types.ts";
import { CALL_CLOSE, CALL_OPEN } from "./tool-blocks.ts";

/** Some vocabularies declare these as control tokens; the call parser must see them all the same. */
const CALL_MARKERS: ReadonlySet<string> = new Set([CALL_OPEN, CALL_CLOSE]);

export class TokenTexts {
  readonly #tokenizer: Tokenizer;
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** null: the token's bytes are no whole characters. */
  readonly #texts: (string | null | undefined)[];
  readonly #callMarkers = new Map<number, string>();

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
    this.#texts = new Array<undefined>(tokenizer.vocabSize);
    for (let id = 0; id < tokenizer.vocabSize; id++) {
      if (tokenizer.tokenBytes(id).length > 0) continue;
      const text = tokenizer.tokenText(id);
      if (CALL_MARKERS.has(text)) this.#callMarkers.set(id, text);
    }
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

  /** The marker that this control token is, if it is one. */
  callMarker(id: number): string | undefined {
    return this.#callMarkers.get(id);
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
