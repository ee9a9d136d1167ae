/**
 * Token ids of whole rendered prompts by content: a second task with the same first turn does not
 * tokenise it again. Keyed per tenant, since a hit is visible in the response time.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { RenderedText, Tokenizer } from "../text/text-types.ts";

const MAX_CACHED_BYTES = 16 * 1024 * 1024; // a hundred prompts of 40 k tokens
const ENTRY_BYTES = 512; // key and bookkeeping: many short prompts count too
/** Encoded in one to three milliseconds at worst; a longer text is worth the way to a thread. */
const MAX_INLINE_CHARS = 16 * 1024;

export interface EncodedPrompt {
  readonly ids: Int32Array;
  /** Tokens that the tokenizer had to make; 0 on a hit. */
  readonly numTokenizedTokens: number;
}

/** Ids of a part of a prompt, without holding up this thread where the text is long. */
export async function encodePart(tokenizer: Tokenizer, text: RenderedText): Promise<Int32Array> {
  return text.length > MAX_INLINE_CHARS
    ? tokenizer.encodeOffThread(text)
    : tokenizer.encode(text, { addBos: false });
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
    const ids = await encodePart(this.#tokenizer, text);
    this.#cache.set(key, ids);
    return { ids, numTokenizedTokens: ids.length };
  }
}
