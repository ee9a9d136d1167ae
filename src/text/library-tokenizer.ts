/**
 * A tokenizer that runs in @huggingface/tokenizers: for a tokenizer.json with steps that the native
 * tokenizer does not know, and the oracle that the native one is checked against. Control tokens are
 * split off before the library sees any text, so text can never become one, and decoding is a table
 * of bytes. Slow: on long texts it blocks its thread for seconds.
 */

import { Tokenizer as LibraryTokenizer } from "@huggingface/tokenizers";
import type { CheckpointFiles } from "./checkpoint-files.ts";
import { ControlLiterals } from "./control-literals.ts";
import { endOfGenerationIds } from "./end-of-generation.ts";
import { unguard } from "./guard.ts";
import { GrammarError } from "./text-errors.ts";
import type { RenderedText } from "./text-types.ts";
import { tokenByteTable } from "./token-bytes.ts";
import type { ControlToken, TokenizerDefinition } from "./tokenizer-definition.ts";
import {
  type CheckpointIds,
  checkpointIds,
  type LoadedTokenizer,
  withBos,
} from "./tokenizer-ids.ts";

export class LibraryModelTokenizer implements LoadedTokenizer {
  readonly vocabSize: number;
  readonly eogIds: ReadonlySet<number>;
  readonly bosId: number | undefined;
  readonly eosId: number | undefined;
  readonly controlLiterals: ControlLiterals;
  readonly stripsLeadingSpace: boolean;
  readonly #definition: TokenizerDefinition;
  readonly #ids: CheckpointIds;
  readonly #library: LibraryTokenizer;
  readonly #idByText: ReadonlyMap<string, number>;
  readonly #controlById: ReadonlyMap<number, ControlToken>;
  readonly #bytes: readonly Uint8Array[];

  constructor(definition: TokenizerDefinition, files: CheckpointFiles) {
    this.#definition = definition;
    this.#idByText = new Map(definition.pieces.map((piece, id) => [piece, id]));
    const { postProcessorBos: bos } = definition;
    const bosId = bos === undefined ? undefined : this.findToken(bos);
    this.#ids = checkpointIds(files, bosId, (text) => this.findToken(text));
    this.vocabSize = definition.pieces.length;
    this.bosId = this.#ids.bosId;
    this.eosId = this.#ids.endIds[0];
    this.stripsLeadingSpace = definition.stripLeadingSpace;
    this.eogIds = endOfGenerationIds(
      (text) => this.findToken(text),
      this.#ids.endIds,
      this.vocabSize,
    );
    this.controlLiterals = new ControlLiterals(definition.control);
    this.#controlById = new Map(definition.control.map((token) => [token.id, token]));
    this.#library = new LibraryTokenizer(definition.library, {});
    this.#bytes = tokenByteTable(definition);
  }

  encode(text: RenderedText, { addBos }: { readonly addBos: boolean }): Int32Array {
    // Text that gets no BOS continues a prompt.
    const ids = Int32Array.from(this.#encodeControl(text.toWellFormed(), unguard, addBos));
    return addBos ? withBos(ids, this.#ids) : ids;
  }

  /** The library has no thread of its own. */
  async encodeAsync(
    text: RenderedText,
    options: { readonly addBos: boolean },
  ): Promise<Int32Array> {
    return this.encode(text, options);
  }

  encodePlain(
    text: string,
    options: { readonly parseSpecial: boolean; readonly addBos: boolean },
  ): Int32Array {
    const wellFormed = text.toWellFormed();
    const ids = Int32Array.from(
      options.parseSpecial
        ? this.#encodeControl(wellFormed, (segment) => segment, true)
        : this.#encodeSegment(wellFormed, true),
    );
    return options.addBos ? withBos(ids, this.#ids) : ids;
  }

  async encodePlainAsync(
    text: string,
    options: { readonly parseSpecial: boolean; readonly addBos: boolean },
  ): Promise<Int32Array> {
    return this.encodePlain(text, options);
  }

  findToken(text: string): number | undefined {
    return this.#idByText.get(text);
  }

  tokenBytes(id: number): Uint8Array {
    return this.#bytes[id] ?? new Uint8Array(0);
  }

  tokenText(id: number): string {
    return this.#controlById.get(id)?.text ?? new TextDecoder().decode(this.tokenBytes(id));
  }

  checkGrammar(): void {
    throw noGrammars();
  }

  async prepareGrammar(): Promise<void> {
    throw noGrammars();
  }

  compileGrammar(): never {
    throw noGrammars();
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
}

function noGrammars(): GrammarError {
  return new GrammarError(
    "the output of this model cannot be held to a grammar: its tokenizer is not a native one",
  );
}
