/**
 * Token id -> the text it adds to the output, cached. A decoded token then costs one array look-up;
 * only tokens that hold a part of a character go through a UTF-8 decoder.
 */

import type { RankedToken, Tokenizer, TokenLogprob, TokenScore } from "../text-types.ts";

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

  /** The token's entry among log probabilities, with all of its bytes. */
  logprobOf(id: number, { logprob, top }: TokenScore): TokenLogprob {
    return {
      ...this.#ranked(id, logprob),
      top_logprobs: top.map((other) => this.#ranked(other.id, other.logprob)),
    };
  }

  #ranked(id: number, logprob: number | null): RankedToken {
    const bytes = this.#tokenizer.tokenBytes(id);
    if (bytes.length === 0 || this.#tokenizer.eogIds.has(id)) {
      const token = this.#tokenizer.tokenText(id);
      return { token, bytes: [...Buffer.from(token)], logprob };
    }
    return { token: this.wholeText(id) ?? escaped(bytes), bytes: [...bytes], logprob };
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

/** Bytes that are no text, as OpenAI's API spells them. */
function escaped(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`);
  return `bytes:${hex.join("")}`;
}
