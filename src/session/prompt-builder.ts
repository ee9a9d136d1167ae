/**
 * Items to prompt tokens. On a chain only what is behind the parent's tokens is tokenised, and rendered
 * where the template allows it; what the model generated stays as its ids. When the template rewrote
 * history or the head changed, everything is made anew and the reason is reported.
 */
import { exceedsChars } from "../base/json-chars.ts";
import type { MissReason } from "../protocol/responses-types.ts";
import type { ChatTemplate, TextModel } from "../text/text-types.ts";
import { headDifference, type LaneState } from "./lane-state.ts";
import type { ParentItems } from "./minimal-frame.ts";
import {
  type ComposedPrompt,
  type ComposeRequest,
  type DeltaRender,
  PromptComposer,
} from "./prompt-composer.ts";
import { TokenList } from "./token-list.ts";

/** A larger prompt is composed on another thread: here it would hold up everybody for tens of milliseconds. */
const MAX_INLINE_CHARS = 256 * 1024;

export interface Prompt {
  readonly tokens: TokenList;
  /** The last characters of its text; empty where no template made it. */
  readonly ending: string;
  /** Leading tokens that are the parent's own; 0 without a parent. */
  readonly numKeptTokens: number;
  /** Tokens whose text was rendered. */
  readonly numRenderedTokens: number;
  readonly numTokenizedTokens: number;
  /** Why the parent's tokens could not be kept. */
  readonly rewriteReason?: MissReason;
}

export interface PromptRequest extends Omit<ComposeRequest, "parent"> {
  readonly parent: LaneState | undefined;
}

/** Composes where it holds up nobody. */
export interface RemoteComposer {
  compose(request: ComposeRequest): Promise<ComposedPrompt>;
}

export interface ComposeOptions {
  /** For large prompts; without one they are composed on this thread. */
  readonly composer?: RemoteComposer;
  readonly deltaRender?: DeltaRender;
}

export class PromptBuilder {
  readonly template: ChatTemplate;
  readonly #model: TextModel;
  readonly #composer: PromptComposer;
  readonly #remote: RemoteComposer;

  constructor(model: TextModel, template: ChatTemplate, { composer, deltaRender }: ComposeOptions) {
    this.#model = model;
    this.template = template;
    this.#composer = new PromptComposer(model, template, deltaRender);
    this.#remote = composer ?? this.#composer;
    this.#composer.probeTemplate();
  }

  /** @throws {ApiError} invalid_value with the template's own message */
  async build(request: PromptRequest): Promise<Prompt> {
    // A warmup without messages has no tokens: what follows it is a first turn.
    const parent = request.parent?.tokens.length === 0 ? undefined : request.parent;
    const composed = await this.#compose(request, parent);
    if (composed.extent === "suffix" && parent) return this.#continued(parent, composed);
    const { ids, ending, numTokenizedTokens } = composed;
    return {
      tokens: TokenList.from(ids),
      ending,
      numKeptTokens: 0,
      numRenderedTokens: ids.length,
      numTokenizedTokens,
      ...(parent && {
        rewriteReason: headDifference(parent.head, request.head) ?? "history_rewrite",
      }),
    };
  }

  /** See `PromptComposer`. */
  isOutputSpelled(lane: LaneState): boolean {
    return this.#composer.isOutputSpelled(lane);
  }

  async #compose(request: PromptRequest, parent: LaneState | undefined): Promise<ComposedPrompt> {
    const { head, items } = request;
    const composition = { ...request, parent: parent && parentItems(parent) };
    const added = items.slice(parent?.items.length);
    const delta = isLarge(added) ? undefined : await this.#composer.composeDelta(composition);
    if (delta) return delta;
    const composer = isLarge([head, ...items]) ? this.#remote : this.#composer;
    return composer.compose(composition);
  }

  #continued(parent: LaneState, composed: ComposedPrompt): Prompt {
    const { ids, ending, isRenderedWhole, numTokenizedTokens } = composed;
    const kept = this.#keptTokens(parent, ids[0]);
    const tokens = kept.tokens.append(ids.subarray(kept.isMarkerGenerated ? 1 : 0));
    return {
      tokens,
      ending,
      numKeptTokens: kept.tokens.length,
      numRenderedTokens: isRenderedWhole ? tokens.length : ids.length,
      numTokenizedTokens,
    };
  }

  /**
   * The model's own end token is the marker that the suffix begins with, or a foreign one that
   * must not stay in the prompt, or absent because a cap or a stop string ended the turn.
   */
  #keptTokens(parent: LaneState, firstSuffixId: number | undefined) {
    const { tokens } = parent;
    const lastId = tokens.at(tokens.length - 1);
    const hasEndToken =
      parent.generation === "whole" &&
      lastId !== undefined &&
      this.#model.tokenizer.eogIds.has(lastId);
    if (!hasEndToken) return { tokens, isMarkerGenerated: false };
    return lastId === firstSuffixId
      ? { tokens, isMarkerGenerated: true }
      : { tokens: tokens.prefix(tokens.length - 1), isMarkerGenerated: false };
  }
}

function isLarge(rendered: readonly unknown[]): boolean {
  return exceedsChars(rendered, MAX_INLINE_CHARS);
}

/** Plain data: a lane itself holds a live sequence. */
function parentItems({ head, items, numPromptItems, generation }: LaneState): ParentItems {
  return { head, items, numPromptItems, generation };
}
