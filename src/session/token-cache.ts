/**
 * Token ids of whole rendered prompts by content: a second task with the same first turn does not
 * tokenise it again. Keyed per tenant, since a hit is visible in the response time.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { RenderedText, Tokenizer } from "../text/text-types.ts";

const MAX_CACHED_BYTES = 16 * 1024 * 1024; // a hundred prompts of 40 k tokens
const ENTRY_BYTES = 512; // key and bookkeeping: many short prompts count too

export interface EncodedPrompt {
  readonly ids: Int32Array;
  /** Tokens that the tokenizer had to make; 0 on a hit. */
  readonly numTokenizedTokens: number;
}

export class TokenCache {
  readonly #tokenizer: Tokenizer;
  readonly #cache = new LRUCache<string, Int32Array>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: (ids) => ids.byteLength + ENTRY_BYTES,
  });

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  /** Ids of a whole prompt. A template that wants BOS writes it into the text itself. */
  async encode(tenant: string, text: RenderedText): Promise<EncodedPrompt> {
    const key = createHash("sha256").update(tenant).update("\0").update(text).digest("base64");
    const cached = this.#cache.get(key);
    if (cached) return { ids: cached, numTokenizedTokens: 0 };
    const ids = await this.#tokenizer.encodeAsync(text, { addBos: false });
    this.#cache.set(key, ids);
    return { ids, numTokenizedTokens: ids.length };
  }
}
