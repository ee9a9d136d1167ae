/**
 * The tokenizer of the addon as the text layer's `Tokenizer`. Encoding is native; Unicode
 * normalization is JavaScript's own, and BOS and the ends of a generation are decided here, where the
 * other files of a checkpoint are known.
 */

import type { ControlTokens, NativeTokenizer } from "../native/addon-types.ts";
import { ControlLiterals } from "./control-literals.ts";
import { endOfGenerationIds } from "./end-of-generation.ts";
import type { RenderedText } from "./text-types.ts";
import { type CheckpointIds, type LoadedTokenizer, withBos } from "./tokenizer-ids.ts";

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

  encode(text: RenderedText, { addBos }: { readonly addBos: boolean }): Int32Array {
    // Text that gets no BOS continues a prompt.
    const ids = this.#native.encode(this.#normalize(text, "guarded"), "guarded", addBos);
    return addBos ? withBos(ids, this.#ids) : ids;
  }

  encodeOffThread(text: RenderedText): Promise<Int32Array> {
    return this.#native.encodeAsync(this.#normalize(text, "guarded"), "guarded", false);
  }

  encodePlain(
    text: string,
    options: { readonly parseSpecial: boolean; readonly addBos: boolean },
  ): Int32Array {
    const controlTokens = options.parseSpecial ? "parsed" : "text";
    const ids = this.#native.encode(this.#normalize(text, controlTokens), controlTokens, true);
    return options.addBos ? withBos(ids, this.#ids) : ids;
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
