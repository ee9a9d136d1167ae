/**
 * The tokenizer of the addon as the text layer's `Tokenizer`. Encoding is native; Unicode
 * normalization is JavaScript's own, and BOS and the ends of a generation are decided here, where the
 * other files of a checkpoint are known.
 */

import type { ControlTokens, NativeGrammar, NativeTokenizer } from "../native/addon-types.ts";
import { ControlLiterals } from "./control-literals.ts";
import { endOfGenerationIds } from "./end-of-generation.ts";
import type { RenderedText } from "./text-types.ts";
import { type CheckpointIds, type LoadedTokenizer, withBos } from "./tokenizer-ids.ts";

/** Takes a few milliseconds at worst; a longer text is worth the way to another thread. */
const MAX_INLINE_CHARS = 16 * 1024;

interface EncodeOptions {
  readonly addBos: boolean;
}
interface PlainOptions extends EncodeOptions {
  readonly parseSpecial: boolean;
}

export class NativeModelTokenizer implements LoadedTokenizer {
  readonly vocabSize: number;
  readonly eogIds: ReadonlySet<number>;
  readonly bosId: number | undefined;
  readonly eosId: number | undefined;
  readonly controlLiterals: ControlLiterals;
  readonly stripsLeadingSpace: boolean;
  readonly #native: NativeTokenizer;
  readonly #ids: CheckpointIds;
  readonly #controlTexts: ReadonlyMap<number, string>;

  constructor(native: NativeTokenizer, ids: CheckpointIds) {
    const { vocabSize, controlTokens, stripsLeadingSpace } = native.facts;
    this.#native = native;
    this.#ids = ids;
    this.vocabSize = vocabSize;
    this.stripsLeadingSpace = stripsLeadingSpace;
    this.bosId = ids.bosId;
    this.eosId = ids.endIds[0];
    this.controlLiterals = new ControlLiterals(controlTokens);
    this.#controlTexts = new Map(controlTokens.map(({ id, text }) => [id, text]));
    this.eogIds = endOfGenerationIds((text) => this.findToken(text), ids.endIds, vocabSize);
  }

  encode(text: RenderedText, { addBos }: EncodeOptions): Int32Array {
    return this.#encode(text, "guarded", addBos, addBos);
  }

  encodeAsync(text: RenderedText, { addBos }: EncodeOptions): Promise<Int32Array> {
    return this.#encodeAsync(text, "guarded", addBos, addBos);
  }

  encodePlain(text: string, { parseSpecial, addBos }: PlainOptions): Int32Array {
    return this.#encode(text, parseSpecial ? "parsed" : "text", true, addBos);
  }

  encodePlainAsync(text: string, { parseSpecial, addBos }: PlainOptions): Promise<Int32Array> {
    return this.#encodeAsync(text, parseSpecial ? "parsed" : "text", true, addBos);
  }

  tokenBytes(id: number): Uint8Array {
    const { bytes, byteStarts } = this.#native.facts;
    return bytes.subarray(byteStarts[id] ?? bytes.length, byteStarts[id + 1] ?? bytes.length);
  }

  tokenText(id: number): string {
    return this.#controlTexts.get(id) ?? new TextDecoder().decode(this.tokenBytes(id));
  }

  findToken(text: string): number | undefined {
    return this.#native.findToken(text);
  }

  checkGrammar(spec: string): void {
    this.#native.checkGrammar(spec);
  }

  async prepareGrammar(spec: string): Promise<void> {
    await this.#native.compileGrammarAsync(spec);
  }

  compileGrammar(spec: string): NativeGrammar {
    return this.#native.compileGrammar(spec);
  }

  /** Rendered text that gets no BOS continues a prompt, plain text never does. */
  #encode(
    text: string,
    controlTokens: ControlTokens,
    startsPrompt: boolean,
    addBos: boolean,
  ): Int32Array {
    const normalized = this.#normalize(text, controlTokens);
    const ids = this.#native.encode(normalized, controlTokens, startsPrompt);
    return addBos ? withBos(ids, this.#ids) : ids;
  }

  async #encodeAsync(
    text: string,
    controlTokens: ControlTokens,
    startsPrompt: boolean,
    addBos: boolean,
  ): Promise<Int32Array> {
    if (text.length <= MAX_INLINE_CHARS) {
      return this.#encode(text, controlTokens, startsPrompt, addBos);
    }
    const normalized = this.#normalize(text, controlTokens);
    const ids = await this.#native.encodeAsync(normalized, controlTokens, startsPrompt);
    return addBos ? withBos(ids, this.#ids) : ids;
  }

  /** Text next to a control token is normalized without it: `>` and U+0338 are one character. */
  #normalize(text: string, controlTokens: ControlTokens): string {
    if (!this.#native.facts.needsNfc) return text;
    const whole = text.normalize("NFC");
    if (controlTokens === "text" || whole === text) return whole;
    let normalized = "";
    let start = 0;
    for (
      let hit = this.controlLiterals.find(text, 0);
      hit;
      hit = this.controlLiterals.find(text, start)
    ) {
      normalized += text.slice(start, hit.index).normalize("NFC") + hit.literal;
      start = hit.index + hit.literal.length;
    }
    return normalized + text.slice(start).normalize("NFC");
  }
}
