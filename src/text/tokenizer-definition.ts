/**
 * What a tokenizer that runs in the library is made of: `library-definition.ts` produces it,
 * `library-tokenizer.ts` runs it. Plain data.
 */

export interface ControlToken {
  readonly id: number;
  readonly text: string;
  /** Whitespace on that side of the token belongs to it. */
  readonly stripLeft: boolean;
  readonly stripRight: boolean;
}

/** How vocabulary entries spell bytes: GPT-2's printable alphabet, or `▁` and `<0xNN>`. */
export type TokenSpelling = "byte-level" | "sentencepiece";

export interface TokenizerDefinition {
  /** In the form of tokenizer.json; without control tokens, which are split off before it. */
  readonly library: LibraryTokenizer;
  /** Vocabulary entry by id; an id without one is the empty string. */
  readonly pieces: readonly string[];
  readonly control: readonly ControlToken[];
  /** Added tokens that are ordinary text: spelled literally, matched in any text. */
  readonly literalIds: ReadonlySet<number>;
  /** Placeholders of the vocabulary, never shown even if the model picks one. */
  readonly reservedIds: ReadonlySet<number>;
  readonly spelling: TokenSpelling;
  /** Text of the special token that the post-processor puts in front of a text. */
  readonly postProcessorBos: string | undefined;
  /** Text that starts a prompt gets a space in front (later fragments do not). */
  readonly spaceBeforeFirst: boolean;
  /** Encoding puts a space in front of text, so decoding takes one away. */
  readonly stripLeadingSpace: boolean;
}

export interface LibraryTokenizer {
  readonly added_tokens: readonly object[];
  readonly normalizer: object | null;
  readonly pre_tokenizer: object | null;
  readonly post_processor: null;
  readonly decoder: null;
  readonly model: object;
}

/** An added token as tokenizer.json has it: matched before anything else, never normalized. */
export function literalToken(id: number, content: string): object {
  return { id, content, special: false, normalized: false, lstrip: false, rstrip: false };
}

/** Whether an added token is one of the numbered spares that Gemma-like vocabularies carry. */
export function isReservedText(text: string): boolean {
  return /^<(?:unused|ctrl)\d+>$/.test(text);
}
