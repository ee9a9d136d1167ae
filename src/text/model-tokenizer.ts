/**
 * Runs a tokenizer definition. BPE itself is @huggingface/tokenizers; what stands around it is here:
 * control tokens are split off before the library sees any text, so text can never become one, and
 * decoding is a table of bytes.
 */

import { Tokenizer as LibraryTokenizer } from "@huggingface/tokenizers";
import { ControlLiterals } from "./control-literals.ts";
import { endOfGenerationIds } from "./end-of-generation.ts";
import { unguard } from "./guard.ts";
import type { RenderedText, Tokenizer } from "./text-types.ts";
import { tokenByteTable } from "./token-bytes.ts";
import type { ControlToken, TokenizerDefinition } from "./tokenizer-definition.ts";

export class ModelTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly eogIds: ReadonlySet<number>;
  readonly bosId: number | undefined;
  readonly controlLiterals: ControlLiterals;
  readonly #definition: TokenizerDefinition;
  readonly #library: LibraryTokenizer;
  readonly #controlById: ReadonlyMap<number, ControlToken>;
  readonly #bytes: readonly Uint8Array[];

  constructor(definition: TokenizerDefinition) {
    this.#definition = definition;
    this.vocabSize = definition.pieces.length;
    this.eogIds = endOfGenerationIds(definition.pieces, definition.eosIds);
    this.bosId = definition.bosId;
    this.controlLiterals = new ControlLiterals(definition.control);
    this.#controlById = new Map(definition.control.map((token) => [token.id, token]));
    this.#library = new LibraryTokenizer(definition.library, {});
    this.#bytes = tokenByteTable(definition);
  }

  encode(text: RenderedText, options: { readonly addBos: boolean }): Int32Array {
    // Text that gets no BOS continues a prompt.
    const ids = this.#encodeControl(text.toWellFormed(), unguard, options.addBos);
    return this.#withBos(ids, options.addBos);
  }

  encodePlain(
    text: string,
    options: { readonly parseSpecial: boolean; readonly addBos: boolean },
  ): Int32Array {
    const wellFormed = text.toWellFormed();
    const ids = options.parseSpecial
      ? this.#encodeControl(wellFormed, (segment) => segment, true)
      : this.#encodeSegment(wellFormed, true);
    return this.#withBos(ids, options.addBos);
  }

  tokenBytes(id: number): Uint8Array {
    return this.#bytes[id] ?? new Uint8Array(0);
  }

  tokenText(id: number): string {
    return this.#controlById.get(id)?.text ?? new TextDecoder().decode(this.tokenBytes(id));
  }

  #encodeControl(
    text: string,
    toPlain: (segment: string) => string,
    startsPrompt: boolean,
  ): number[] {
    const ids: number[] = [];
    let start = 0;
    let stripStart = false;
    const pushText = (end: number, stripEnd: boolean): void => {
      let segment = toPlain(text.slice(start, end));
      if (stripStart) segment = segment.trimStart();
      if (stripEnd) segment = segment.trimEnd();
      for (const id of this.#encodeSegment(segment, startsPrompt && start === 0)) ids.push(id);
    };
    for (
      let hit = this.controlLiterals.find(text, 0);
      hit;
      hit = this.controlLiterals.find(text, start)
    ) {
      const token = this.#controlById.get(hit.id);
      pushText(hit.index, token?.stripLeft ?? false);
      ids.push(hit.id);
      start = hit.index + hit.literal.length;
      stripStart = token?.stripRight ?? false;
    }
    pushText(text.length, false);
    return ids;
  }

  #encodeSegment(text: string, startsPrompt: boolean): number[] {
    if (text === "") return [];
    const needsSpace = startsPrompt && this.#definition.spaceBeforeFirst && !/^[ ▁]/.test(text);
    const { ids } = this.#library.encode(needsSpace ? ` ${text}` : text, {
      add_special_tokens: false,
    });
    // Without an unknown token the library answers undefined for what it cannot spell.
    return ids.filter((id: number | undefined) => id !== undefined);
  }

  /** Asked for BOS, adds it where the model has one, unless the text itself starts with it. */
  #withBos(ids: readonly number[], addBos: boolean): Int32Array {
    const { bosId } = this;
    const prepend = addBos && this.#definition.addBos && bosId !== undefined && ids[0] !== bosId;
    return Int32Array.from(prepend ? [bosId, ...ids] : ids);
  }
}
