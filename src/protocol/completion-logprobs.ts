/** Log probabilities in the form of Completions: columns instead of an entry a token. Pure. */
import type { CompletionLogprobs } from "./completion-types.ts";
import type { TokenLogprob } from "./responses-types.ts";

/** For one text, whole or piece by piece. */
export class CompletionLogprobsEncoder {
  #numCodePoints = 0;

  /** null: the piece completes no token. */
  encode(entries: readonly TokenLogprob[]): CompletionLogprobs | null {
    if (entries.length === 0) return null;
    return {
      tokens: entries.map(({ token }) => token),
      token_logprobs: entries.map(({ logprob }) => logprob),
      top_logprobs: entries.map(topOf),
      text_offset: entries.map(({ bytes }) => this.#advance(bytes)),
    };
  }

  /** Where a token starts. */
  #advance(bytes: readonly number[]): number {
    const offset = this.#numCodePoints;
    this.#numCodePoints += bytes.filter((byte) => byte >> 6 !== 0b10).length;
    return offset;
  }
}

/** The likeliest of tokens that are spelled alike. */
function topOf({ token, logprob, top_logprobs }: TokenLogprob): Record<string, number> | null {
  if (logprob === null) return null;
  const likeliestLast = [{ token, logprob }, ...top_logprobs.toReversed()];
  return Object.fromEntries(likeliestLast.map((ranked) => [ranked.token, ranked.logprob ?? 0]));
}
