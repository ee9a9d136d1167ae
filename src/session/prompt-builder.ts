/**
 * Items to prompt tokens. On a chain the whole text is rendered again (linear, cheap) but only what
 * is behind the parent's tokens is tokenised, and what the model generated stays as its ids. When
 * the template rewrote history or the head changed, everything is tokenised again and the reason
 * is reported.
 */
import type { MissReason } from "../protocol/responses-types.ts";
import type { ChatTemplate, RenderedText, TextModel } from "../text/text-types.ts";
import type { LaneState, PromptHead } from "./lane-state.ts";
import {
  type ComposedPrompt,
  type ComposeRequest,
  type ParentPrompt,
  PromptComposer,
} from "./prompt-composer.ts";
import { TokenList } from "./token-list.ts";

/** A larger prompt is composed on another thread: here it would hold up everybody for tens of milliseconds. */
const MAX_INLINE_BYTES = 256 * 1024;

export interface Prompt {
  readonly text: RenderedText;
  readonly tokens: TokenList;
  /** Leading tokens that are the parent's own; 0 without a parent. */
  readonly numKeptTokens: number;
  readonly numTokenizedTokens: number;
  /** Why the parent's tokens could not be kept. */
  readonly rewriteReason?: MissReason;
}

export interface PromptRequest extends Omit<ComposeRequest, "parent"> {
  readonly parent: LaneState | undefined;
  /** Of the request, which adds to its parent. */
  readonly receivedBytes: number;
}

/** Composes where it holds up nobody. */
export interface RemoteComposer {
  compose(request: ComposeRequest): Promise<ComposedPrompt>;
}

export class PromptBuilder {
  readonly template: ChatTemplate;
  readonly #model: TextModel;
  readonly #composer: PromptComposer;
  readonly #remote: RemoteComposer;

  /** @param remote for large prompts; without one they are composed here */
  constructor(model: TextModel, template: ChatTemplate, remote?: RemoteComposer) {
    this.#model = model;
    this.template = template;
    this.#composer = new PromptComposer(model, template);
    this.#remote = remote ?? this.#composer;
  }

  /** @throws {ApiError} invalid_value with the template's own message */
  async build(request: PromptRequest): Promise<Prompt> {
    // A warmup without messages has no tokens: what follows it is a first turn.
    const parent = request.parent?.tokens.length === 0 ? undefined : request.parent;
    const composed = await this.#compose(request, parent);
    if (composed.extent === "suffix" && parent) return this.#continued(parent, composed);
    const { text, ids, numTokenizedTokens } = composed;
    return {
      text,
      tokens: TokenList.from(ids),
      numKeptTokens: 0,
      numTokenizedTokens,
      ...(parent && { rewriteReason: rewriteReason(parent.head, request.head) }),
    };
  }

  #compose(request: PromptRequest, parent: LaneState | undefined): Promise<ComposedPrompt> {
    const { tenant, head, items, addGenerationPrompt, receivedBytes } = request;
    const numBytes = receivedBytes + (parent?.promptText.length ?? 0);
    const composer = numBytes > MAX_INLINE_BYTES ? this.#remote : this.#composer;
    const composable = { tenant, head, items, addGenerationPrompt };
    return composer.compose({ ...composable, parent: parent && parentPrompt(parent) });
  }

  #continued(parent: LaneState, { text, ids, numTokenizedTokens }: ComposedPrompt): Prompt {
    const kept = this.#keptTokens(parent, ids[0]);
    return {
      text,
      tokens: kept.tokens.append(ids.subarray(kept.isMarkerGenerated ? 1 : 0)),
      numKeptTokens: kept.tokens.length,
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

/** Plain data: a lane itself holds a live sequence. */
function parentPrompt({ head, items, promptText, generation }: LaneState): ParentPrompt {
  return { head, items, promptText, generation };
}

function rewriteReason(parent: PromptHead, next: PromptHead): MissReason {
  if (parent.reasoningEffort !== next.reasoningEffort) return "template";
  if (JSON.stringify(parent.tools) !== JSON.stringify(next.tools)) return "tools";
  if (parent.instructions !== next.instructions) return "instructions";
  return "history_rewrite";
}
