/**
 * Tokenizer definition from GGUF metadata (`tokenizer.ggml.*`): byte-level BPE ("gpt2") and
 * SentencePiece BPE ("llama"). Other tokenizer models are refused by name.
 */

import type { MetadataValue, ModelInspection } from "../native/addon-types.ts";
import { preTokenizerRules } from "./pre-tokenizers.ts";
import { TextModelError } from "./text-errors.ts";
import { isReservedText, literalToken, type TokenizerDefinition } from "./tokenizer-definition.ts";

/** Values of `tokenizer.ggml.token_type`. */
const TOKEN_NORMAL = 1;
const TOKEN_UNKNOWN = 2;
const TOKEN_CONTROL = 3;
const TOKEN_USER_DEFINED = 4;
const TOKEN_UNUSED = 5;

/** @throws {TextModelError} */
export function ggufTokenizerDefinition(inspection: ModelInspection): TokenizerDefinition {
  const metadata = new GgufTokenizerMetadata(inspection.metadata);
  const model = metadata.string("model");
  switch (model) {
    case "gpt2":
      return byteLevelDefinition(metadata);
    case "llama":
      return sentencePieceDefinition(metadata);
    case undefined:
      throw new TextModelError("ERR_TOKENIZER_FORMAT", "the model file has no tokenizer");
    default:
      throw new TextModelError("ERR_TOKENIZER_TYPE", `tokenizer model "${model}" is not supported`);
  }
}

function byteLevelDefinition(metadata: GgufTokenizerMetadata): TokenizerDefinition {
  const rules = preTokenizerRules(metadata.string("pre"));
  const vocabulary = readVocabulary(metadata);
  const split = (pattern: string): object => ({
    type: "Split",
    pattern: { Regex: pattern },
    behavior: "Isolated",
    invert: false,
  });
  return {
    ...vocabulary.parts,
    library: {
      added_tokens: vocabulary.literals,
      normalizer: rules.nfc ? { type: "NFC" } : null,
      pre_tokenizer: {
        type: "Sequence",
        pretokenizers: [
          ...rules.patterns.map(split),
          { type: "ByteLevel", add_prefix_space: false, use_regex: false },
        ],
      },
      post_processor: null,
      decoder: null,
      model: {
        type: "BPE",
        vocab: vocabulary.vocab,
        merges: readMerges(metadata),
        ignore_merges: rules.ignoreMerges,
      },
    },
    spelling: "byte-level",
    bosId: metadata.id("bos_token_id"),
    addBos: metadata.boolean("add_bos_token") ?? rules.addBosDefault,
    eosIds: metadata.endIds(),
    spaceBeforeFirst: false,
    stripLeadingSpace: false,
  };
}

function sentencePieceDefinition(metadata: GgufTokenizerMetadata): TokenizerDefinition {
  const vocabulary = readVocabulary(metadata);
  const addSpacePrefix = metadata.boolean("add_space_prefix") ?? true;
  const unknownId = metadata.id("unknown_token_id") ?? 0;
  const unknown = vocabulary.parts.pieces[unknownId];
  if (unknown !== undefined) vocabulary.vocab[unknown] = unknownId;
  const spaces = { type: "Replace", pattern: { String: " " }, content: "▁" };
  return {
    ...vocabulary.parts,
    library: {
      added_tokens: vocabulary.literals,
      normalizer: addSpacePrefix
        ? { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "▁" }, spaces] }
        : spaces,
      pre_tokenizer: null,
      post_processor: null,
      decoder: null,
      model: {
        type: "BPE",
        vocab: vocabulary.vocab,
        merges: mergesFromScores(metadata, vocabulary),
        unk_token: unknown ?? null,
        fuse_unk: true,
        byte_fallback: true,
      },
    },
    spelling: "sentencepiece",
    bosId: metadata.id("bos_token_id") ?? 1,
    addBos: metadata.boolean("add_bos_token") ?? true,
    eosIds: metadata.endIds(2),
    spaceBeforeFirst: false,
    stripLeadingSpace: addSpacePrefix,
  };
}

interface Vocabulary {
  readonly parts: Pick<TokenizerDefinition, "pieces" | "control" | "literalIds" | "reservedIds">;
  readonly literals: readonly object[];
  /** Entries that encoding may produce; control tokens are not among them. */
  readonly vocab: Record<string, number>;
  readonly types: Float64Array | undefined;
}

function readVocabulary(metadata: GgufTokenizerMetadata): Vocabulary {
  const pieces = metadata.strings("tokens");
  if (!pieces || pieces.length === 0) {
    throw new TextModelError("ERR_TOKENIZER_FORMAT", "tokenizer.ggml.tokens is missing or empty");
  }
  const types = metadata.numbers("token_type");
  if (types && types.length !== pieces.length) {
    throw new TextModelError(
      "ERR_TOKENIZER_FORMAT",
      `tokenizer.ggml.token_type has ${types.length} entries for ${pieces.length} tokens`,
    );
  }
  const vocab: Record<string, number> = Object.create(null);
  const control = [];
  const literals = [];
  const literalIds = new Set<number>();
  const reservedIds = new Set<number>();
  for (const [id, text] of pieces.entries()) {
    const type = types?.[id] ?? TOKEN_NORMAL;
    if (type === TOKEN_CONTROL || type === TOKEN_UNKNOWN) {
      if (text !== "") control.push({ id, text, stripLeft: false, stripRight: false });
      continue;
    }
    if (type === TOKEN_UNUSED) reservedIds.add(id);
    vocab[text] = id;
    if (type === TOKEN_USER_DEFINED && text !== "") {
      literals.push(literalToken(id, text));
      literalIds.add(id);
      if (isReservedText(text)) reservedIds.add(id);
    }
  }
  return { parts: { pieces, control, literalIds, reservedIds }, literals, vocab, types };
}

function readMerges(metadata: GgufTokenizerMetadata): readonly (readonly [string, string])[] {
  const merges = metadata.strings("merges");
  if (!merges) {
    throw new TextModelError("ERR_TOKENIZER_FORMAT", "tokenizer.ggml.merges is missing");
  }
  return merges.map((merge) => {
    const space = merge.indexOf(" ", 1); // the left half may itself be a space
    if (space < 0) {
      throw new TextModelError("ERR_TOKENIZER_FORMAT", `merge "${merge}" is not two tokens`);
    }
    return [merge.slice(0, space), merge.slice(space + 1)] as const;
  });
}

/**
 * SentencePiece merges the adjacent pair whose joined token scores highest. As a ranked list: every
 * split of every normal token into two tokens, by score descending, ties in vocabulary order.
 */
function mergesFromScores(
  metadata: GgufTokenizerMetadata,
  vocabulary: Vocabulary,
): readonly (readonly [string, string])[] {
  const { pieces } = vocabulary.parts;
  const scores = metadata.numbers("scores");
  if (scores?.length !== pieces.length) {
    throw new TextModelError(
      "ERR_TOKENIZER_FORMAT",
      `tokenizer.ggml.scores has ${scores?.length ?? 0} entries for ${pieces.length} tokens`,
    );
  }
  const merges: { readonly pair: readonly [string, string]; readonly score: number }[] = [];
  for (const [id, piece] of pieces.entries()) {
    if ((vocabulary.types?.[id] ?? TOKEN_NORMAL) !== TOKEN_NORMAL) continue;
    for (const pair of splitsOf(piece, vocabulary.vocab)) {
      merges.push({ pair, score: scores[id] ?? 0 });
    }
  }
  return merges.sort((a, b) => b.score - a.score).map((merge) => merge.pair);
}

function splitsOf(
  piece: string,
  vocab: Readonly<Record<string, number>>,
): readonly (readonly [string, string])[] {
  const splits: { pair: readonly [string, string]; left: number; right: number }[] = [];
  for (let at = 1; at < piece.length; at++) {
    const pair = [piece.slice(0, at), piece.slice(at)] as const;
    const left = vocab[pair[0]];
    const right = vocab[pair[1]];
    if (left !== undefined && right !== undefined) splits.push({ pair, left, right });
  }
  return splits
    .sort((a, b) => a.left - b.left || a.right - b.right)
    .map((candidate) => candidate.pair);
}

/** Typed access to the `tokenizer.ggml.` keys; a key of another type is an error. */
class GgufTokenizerMetadata {
  readonly #metadata: Readonly<Record<string, MetadataValue>>;

  constructor(metadata: Readonly<Record<string, MetadataValue>>) {
    this.#metadata = metadata;
  }

  string(key: string): string | undefined {
    return this.#read(key, "a string", (value) => typeof value === "string");
  }

  boolean(key: string): boolean | undefined {
    return this.#read(key, "a boolean", (value) => typeof value === "boolean");
  }

  id(key: string): number | undefined {
    return this.#read(key, "a token id", (value) => typeof value === "number");
  }

  strings(key: string): readonly string[] | undefined {
    return this.#read(key, "an array of strings", (value) => Array.isArray(value));
  }

  numbers(key: string): Float64Array | undefined {
    return this.#read(key, "an array of numbers", (value) => value instanceof Float64Array);
  }

  /** Ids of every key that ends a generation. */
  endIds(eosDefault?: number): readonly number[] {
    const keys = ["eot", "eom", "fim_pad", "fim_rep", "fim_sep"];
    const ids = [
      this.id("eos_token_id") ?? eosDefault,
      ...keys.map((k) => this.id(`${k}_token_id`)),
    ];
    return ids.filter((id) => id !== undefined);
  }

  #read<T extends MetadataValue>(
    key: string,
    expected: string,
    is: (value: MetadataValue) => boolean,
  ): T | undefined {
    const value = this.#metadata[`tokenizer.ggml.${key}`];
    if (value === undefined) return undefined;
    if (!is(value)) {
      throw new TextModelError("ERR_TOKENIZER_FORMAT", `tokenizer.ggml.${key} is not ${expected}`);
    }
    return value as T;
  }
}
