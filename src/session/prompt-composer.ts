/**
 * Items to text, and text to ids: the part of building a prompt that takes long for a large one, and
 * that needs nothing but plain data, so that it can run on another thread (`ComposePool`).
 */
import type { ContextItem } from "../protocol/responses-types.ts";
import { TemplateError } from "../text/text-errors.ts";
import type { ChatTemplate, RenderedText, TextModel } from "../text/text-types.ts";
import { headMessages } from "./chat-messages.ts";
import { commonTurns } from "./common-turns.ts";
import { continuationSuffix, sliceRendered } from "./delta-render.ts";
import { DeltaRenderer, unguardedThoughtEnd } from "./delta-renderer.ts";
import { headDifference, type LaneState, type PromptHead } from "./lane-state.ts";
import type { ParentItems } from "./minimal-frame.ts";
import { renderItems, renderMessages } from "./render-items.ts";
import { type EncodedPrompt, TokenCache } from "./token-cache.ts";

const ENDING_CHARS = 64;
const MAX_MARKER_CHARS = 64; // the longest control literals seen have 30

/**
 * How the text behind a parent's tokens is found: from the new items where the template allows it, by
 * rendering the whole conversation each time, or both ways, which must agree (for tests).
 */
export type DeltaRender = "on" | "off" | "check";

export interface ComposeRequest {
  readonly tenant: string;
  readonly head: PromptHead;
  readonly items: readonly ContextItem[];
  readonly parent: ParentItems | undefined;
  /** false for a warmup: later items follow where the generation prompt would be. */
  readonly addGenerationPrompt: boolean;
}

export interface ComposedPrompt {
  /** `suffix`: the ids stand behind the parent's. */
  readonly extent: "whole" | "suffix";
  readonly ids: Int32Array;
  /** The last characters of their text. */
  readonly ending: string;
  /** Also what stands in front of these ids was rendered. */
  readonly isRenderedWhole: boolean;
  /** Tokens that the tokenizer had to make. */
  readonly numTokenizedTokens: number;
}

export class PromptComposer {
  readonly #model: Pick<TextModel, "tokenizer">;
  readonly #template: ChatTemplate;
  readonly #cache: TokenCache;
  readonly #endMarkers: readonly string[];
  readonly #deltas: DeltaRenderer;
  readonly #deltaRender: DeltaRender;

  constructor(
    model: Pick<TextModel, "tokenizer">,
    template: ChatTemplate,
    deltaRender: DeltaRender = "on",
  ) {
    this.#model = model;
    this.#template = template;
    this.#deltaRender = deltaRender;
    this.#cache = new TokenCache(model.tokenizer);
    this.#endMarkers = [...model.tokenizer.eogIds].map((id) => model.tokenizer.tokenText(id));
    this.#deltas = new DeltaRenderer(
      (head, items, addGenerationPrompt) => renderItems(template, head, items, addGenerationPrompt),
      { endMarkers: this.#endMarkers, thoughtEnd: unguardedThoughtEnd(template) },
    );
  }

  /** Tries the template with the turns that most agents take, for `composeDelta`. */
  probeTemplate(): void {
    if (this.#deltaRender !== "on") return;
    const thinks = this.#template.thinkingFormat !== undefined;
    for (const turn of commonTurns(thinks)) this.#deltas.suffix(turn);
  }

  /**
   * A prompt that goes on behind its parent's tokens, from its new items only; undefined when the
   * conversation has to be rendered whole.
   */
  async composeDelta(request: ComposeRequest): Promise<ComposedPrompt | undefined> {
    const delta = this.#deltaRender === "on" ? this.#deltaOf(request) : undefined;
    return delta === undefined ? undefined : this.#encodeSuffix(delta, false);
  }

  /** Renders the whole conversation. @throws {ApiError} invalid_value with the template's own message */
  async compose(request: ComposeRequest): Promise<ComposedPrompt> {
    const { head, items, parent, addGenerationPrompt } = request;
    const text = renderItems(this.#template, head, items, addGenerationPrompt);
    const suffix = parent && this.#suffixBehind(parent, text);
    if (this.#deltaRender === "check") checkAgreement(this.#deltaOf(request), suffix);
    if (suffix !== undefined) return this.#encodeSuffix(suffix, true);
    return {
      extent: "whole",
      ending: endingOf(text),
      isRenderedWhole: true,
      ...(await this.#encodeWhole(request, text)),
    };
  }

  async #encodeSuffix(suffix: RenderedText, isRenderedWhole: boolean): Promise<ComposedPrompt> {
    const ids = await this.#model.tokenizer.encodeAsync(suffix, { addBos: false });
    return {
      extent: "suffix",
      ids,
      ending: endingOf(suffix),
      isRenderedWhole,
      numTokenizedTokens: ids.length,
    };
  }

  #deltaOf(request: ComposeRequest): RenderedText | undefined {
    const { head, parent } = request;
    if (!parent || parent.generation === "cut" || headDifference(parent.head, head))
      return undefined;
    return this.#usable(this.#deltas.suffix({ ...request, parent }));
  }

  /** undefined: the prompt does not go on behind the parent's tokens. */
  #suffixBehind(parent: ParentItems, text: RenderedText): RenderedText | undefined {
    const { head, items, numPromptItems, generation } = parent;
    if (generation === "cut") return undefined;
    const closedText = renderItems(this.#template, head, items, false);
    const parentText =
      generation === "none"
        ? { promptText: closedText, closedText: undefined }
        : {
            promptText: renderItems(this.#template, head, items.slice(0, numPromptItems), true),
            closedText,
          };
    return this.#usable(continuationSuffix(parentText, text, this.#endMarkers));
  }

  /** Whether a lane's last output has the ids that the tokenizer gives to its text. */
  isOutputSpelled({ head, items, tokens, ...lane }: LaneState): boolean {
    if (lane.generation === "none") return true;
    const shown = this.#deltas.outputBehindPrompt(head, items.slice(lane.numPromptItems));
    if (shown === undefined) return false;
    const { tokenizer } = this.#model;
    const numBefore = tokenizer.encode(shown.promptText, { addBos: false }).length;
    const spelled = tokenizer.encode(shown.text, { addBos: false }).subarray(numBefore);
    const generated = tokens.toArray(lane.numPromptTokens);
    const hasEnd = tokenizer.eogIds.has(generated.at(-1) ?? Number.NaN);
    const words = hasEnd ? generated.subarray(0, -1) : generated;
    return words.length === spelled.length && words.every((id, index) => id === spelled[index]);
  }

  /** A suffix that is tokenized by itself must have the ids that it has in the whole. */
  #usable(suffix: RenderedText | undefined): RenderedText | undefined {
    return suffix === undefined || suffix === "" || this.#startsWithMarker(suffix)
      ? suffix
      : undefined;
  }

  /** Instructions and tools are cached apart: a task with the same ones encodes its own words only. */
  async #encodeWhole(
    { tenant, head, items }: ComposeRequest,
    text: RenderedText,
  ): Promise<EncodedPrompt> {
    const headText = this.#headText(head, items);
    const rest = sliceRendered(text, headText.length);
    if (headText === "" || !text.startsWith(headText) || !this.#startsWithMarker(rest)) {
      return this.#cache.encode(tenant, text);
    }
    const first = await this.#cache.encode(tenant, headText);
    const second = await this.#cache.encode(tenant, rest);
    const ids = new Int32Array(first.ids.length + second.ids.length);
    ids.set(first.ids);
    ids.set(second.ids, first.ids.length);
    return {
      ids,
      numTokenizedTokens: first.numTokenizedTokens + second.numTokenizedTokens,
    };
  }

  /** Empty when there is no system turn, or none that the template shows without a user turn. */
  #headText(head: PromptHead, items: readonly ContextItem[]): RenderedText {
    try {
      return renderMessages(this.#template, head, headMessages(head, items), false);
    } catch (error) {
      if (error instanceof TemplateError) return "" as RenderedText;
      throw error;
    }
  }

  /** In front of a control token, and surely only there, two parts have the ids of the whole. */
  #startsWithMarker(text: RenderedText): boolean {
    const start = text.slice(0, MAX_MARKER_CHARS);
    const [id] = this.#model.tokenizer.encodePlain(start, { parseSpecial: true, addBos: false });
    return id !== undefined && this.#model.tokenizer.tokenBytes(id).length === 0;
  }
}

function endingOf(text: RenderedText): string {
  return text.slice(-ENDING_CHARS);
}

/** @throws {Error} when there is a delta that is not the suffix */
function checkAgreement(delta: RenderedText | undefined, suffix: RenderedText | undefined): void {
  if (delta === undefined || delta === suffix) return;
  const at = delta.split("").findIndex((character, index) => character !== suffix?.[index]);
  const facts = `${delta.length} and ${suffix?.length ?? "no"} characters, the first difference at ${at}`;
  throw new Error(`new items rendered alone differ from the whole conversation: ${facts}`);
}
