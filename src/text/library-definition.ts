/** What the tokenizer library needs of a tokenizer.json, and what stands around it. */

import { isJsonObject, type JsonObject } from "../base/json-object.ts";
import { TextModelError } from "./text-errors.ts";
import {
  type ControlToken,
  isReservedText,
  literalToken,
  type TokenizerDefinition,
  type TokenSpelling,
} from "./tokenizer-definition.ts";

/** @throws {TextModelError} */
export function libraryDefinition(json: JsonObject): TokenizerDefinition {
  const model = readModel(json);
  const added = readAddedTokens(json);
  const pieces = idTable(model.vocab, added);
  const unknown = model.settings.unk_token;
  const control = added.filter((token) => token.special);
  const literals = added.filter((token) => !token.special);
  const vocab = encodableVocab(model.vocab, control, unknown);
  const { preTokenizer, spaceBeforeFirst } = readPreTokenizer(json.pre_tokenizer);
  return {
    library: {
      added_tokens: literals.map((token) => token.json),
      normalizer: isJsonObject(json.normalizer) ? json.normalizer : null,
      pre_tokenizer: preTokenizer,
      post_processor: null,
      decoder: null,
      model: { ...model.settings, vocab },
    },
    pieces,
    control: control.map(
      (token): ControlToken => ({
        id: token.id,
        text: token.text,
        stripLeft: token.json.lstrip === true,
        stripRight: token.json.rstrip === true,
      }),
    ),
    literalIds: new Set(literals.map((token) => token.id)),
    reservedIds: new Set(literals.filter((t) => isReservedText(t.text)).map((t) => t.id)),
    spelling: readSpelling(json),
    postProcessorBos: postProcessorBos(json.post_processor),
    spaceBeforeFirst,
    stripLeadingSpace: stripsLeadingSpace(json.decoder),
  };
}

interface BpeModel {
  readonly vocab: Readonly<Record<string, number>>;
  readonly settings: JsonObject;
}

function readModel(json: JsonObject): BpeModel {
  const model = json.model;
  if (!isJsonObject(model) || !isJsonObject(model.vocab)) {
    throw new TextModelError("ERR_TOKENIZER_FORMAT", "tokenizer.json has no model with a vocab");
  }
  if (model.type !== undefined && model.type !== "BPE") {
    throw new TextModelError(
      "ERR_TOKENIZER_TYPE",
      `tokenizer model "${String(model.type)}" is not supported`,
    );
  }
  if (!Array.isArray(model.merges)) {
    throw new TextModelError("ERR_TOKENIZER_FORMAT", "tokenizer.json has no merges");
  }
  for (const [text, id] of Object.entries(model.vocab)) {
    if (!isTokenId(id)) {
      throw new TextModelError("ERR_TOKENIZER_FORMAT", `token "${text}" has no valid id`);
    }
  }
  return {
    vocab: model.vocab as Readonly<Record<string, number>>,
    settings: { ...model, type: "BPE" },
  };
}

interface AddedToken {
  readonly id: number;
  readonly text: string;
  readonly special: boolean;
  readonly json: JsonObject;
}

function readAddedTokens(json: JsonObject): readonly AddedToken[] {
  const list: readonly unknown[] = Array.isArray(json.added_tokens) ? json.added_tokens : [];
  return list.map((entry) => {
    if (!isJsonObject(entry) || typeof entry.content !== "string" || !isTokenId(entry.id)) {
      throw new TextModelError("ERR_TOKENIZER_FORMAT", "an added token lacks its id or content");
    }
    const { id, content } = entry;
    return {
      id,
      text: content,
      special: entry.special === true,
      json: { ...literalToken(id, content), ...entry },
    };
  });
}

/** A bound on ids keeps a mangled file from asking for a huge table. */
function isTokenId(id: unknown): id is number {
  return typeof id === "number" && Number.isInteger(id) && id >= 0 && id < 2 ** 22;
}

function idTable(
  vocab: Readonly<Record<string, number>>,
  added: readonly AddedToken[],
): readonly string[] {
  const pieces: string[] = [];
  for (const [text, id] of Object.entries(vocab)) pieces[id] = text;
  for (const { id, text } of added) pieces[id] = text;
  return Array.from(pieces, (piece) => piece ?? "");
}

function encodableVocab(
  vocab: Readonly<Record<string, number>>,
  control: readonly AddedToken[],
  unknown: unknown,
): object {
  const controlTexts = new Set(control.map((token) => token.text));
  return Object.fromEntries(
    Object.entries(vocab).filter(([text]) => text === unknown || !controlTexts.has(text)),
  );
}

/** Pre-tokenizer as the library must get it, and whether only the start of a prompt gets a space. */
function readPreTokenizer(value: unknown): {
  readonly preTokenizer: object | null;
  readonly spaceBeforeFirst: boolean;
} {
  if (!isJsonObject(value)) return { preTokenizer: null, spaceBeforeFirst: false };
  if (value.type === "Metaspace" && value.prepend_scheme === "first") {
    // The library would take every segment between control tokens for the first one.
    return { preTokenizer: { ...value, prepend_scheme: "never" }, spaceBeforeFirst: true };
  }
  return { preTokenizer: widenDigits(value), spaceBeforeFirst: false };
}

/** The library's `Digits` knows decimal digits only; the format means every Unicode number. */
function widenDigits(value: JsonObject): JsonObject {
  if (value.type === "Digits") {
    const pattern = value.individual_digits === true ? "\\p{N}" : "\\p{N}+";
    return { type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false };
  }
  if (value.type === "Sequence" && Array.isArray(value.pretokenizers)) {
    const parts: readonly unknown[] = value.pretokenizers;
    return {
      ...value,
      pretokenizers: parts.map((part) => (isJsonObject(part) ? widenDigits(part) : part)),
    };
  }
  return value;
}

function readSpelling(json: JsonObject): TokenSpelling {
  const hasByteLevel = (value: unknown): boolean =>
    JSON.stringify(value ?? null).includes('"ByteLevel"');
  return hasByteLevel(json.pre_tokenizer) || hasByteLevel(json.decoder)
    ? "byte-level"
    : "sentencepiece";
}

/** Content of the special token in front of the text, as TemplateProcessing declares it. */
function postProcessorBos(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  if (value.type === "Sequence" && Array.isArray(value.processors)) {
    const processors: readonly unknown[] = value.processors;
    return processors.map(postProcessorBos).find((bos) => bos !== undefined);
  }
  if (value.type !== "TemplateProcessing" || !Array.isArray(value.single)) return undefined;
  const first: unknown = value.single[0];
  if (!isJsonObject(first) || !isJsonObject(first.SpecialToken)) return undefined;
  const { id } = first.SpecialToken;
  return typeof id === "string" ? id : undefined;
}

function stripsLeadingSpace(decoder: unknown): boolean {
  if (!isJsonObject(decoder)) return false;
  if (decoder.type === "Sequence" && Array.isArray(decoder.decoders)) {
    return decoder.decoders.some(stripsLeadingSpace);
  }
  if (decoder.type === "Metaspace") return decoder.prepend_scheme !== "never";
  return decoder.type === "Strip" && decoder.content === " " && decoder.start === 1;
}
