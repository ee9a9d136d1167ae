/**
 * Items to prompt tokens. On a chain the whole text is rendered again (linear, cheap) but only what
 * is behind the parent's tokens is tokenised, and what the model generated stays as its ids. When
 * the template rewrote history or the head changed, everything is tokenised again and the reason
 * is reported.
 */
import { invalidRequest } from "../protocol/api-error.ts";
import type { InputItem, MissReason } from "../protocol/responses-types.ts";
import type { ChatTemplate, RenderedText, TextModel } from "../text/text-types.ts";
import { toChatMessages, toChatTools } from "./chat-messages.ts";
import { continuationSuffix } from "./delta-render.ts";
import type { LaneState, PromptHead } from "./lane-state.ts";
import { TokenCache } from "./token-cache.ts";
import { TokenList } from "./token-list.ts";

export interface Prompt {
  readonly text: RenderedText;
  readonly tokens: TokenList;
  /** Leading tokens that are the parent's own; 0 without a parent. */
  readonly numKeptTokens: number;
  readonly numTokenizedTokens: number;
  /** Why the parent's tokens could not be kept. */
  readonly rewriteReason?: MissReason;
}

export interface PromptRequest {
  readonly tenant: string;
  readonly head: PromptHead;
  readonly items: readonly InputItem[];
  readonly parent: LaneState | undefined;
  /** false for a warmup: later items follow where the generation prompt would be. */
  readonly addGenerationPrompt: boolean;
}

export class PromptBuilder {
  readonly template: ChatTemplate;
  readonly #model: TextModel;
  readonly #cache: TokenCache;
  readonly #endMarkers: readonly string[];

  constructor(model: TextModel, template: ChatTemplate) {
    this.#model = model;
    this.template = template;
    this.#cache = new TokenCache(model.tokenizer);
    this.#endMarkers = [...model.tokenizer.eogIds].map((id) => model.tokenizer.tokenText(id));
  }

  /** @throws {ApiError} invalid_value with the template's own message */
  build(request: PromptRequest): Prompt {
    const text = this.#render(request.head, request.items, request.addGenerationPrompt);
    // A warmup without messages has no tokens: what follows it is a first turn.
    const parent = request.parent?.tokens.length === 0 ? undefined : request.parent;
    const continued = parent && this.#continue(parent, text);
    if (continued) return continued;
    const { ids, numTokenizedTokens } = this.#cache.encode(request.tenant, text);
    return {
      text,
      tokens: TokenList.from(ids),
      numKeptTokens: 0,
      numTokenizedTokens,
      ...(parent && { rewriteReason: rewriteReason(parent.head, request.head) }),
    };
  }

  #continue(parent: LaneState, text: RenderedText): Prompt | undefined {
    if (parent.generation === "cut") return undefined;
    const { promptText } = parent;
    const closedText =
      parent.generation === "none" ? undefined : this.#render(parent.head, parent.items, false);
    const suffix = continuationSuffix({ promptText, closedText }, text, this.#endMarkers);
    if (suffix === undefined) return undefined;
    const ids = this.#model.tokenizer.encode(suffix, { addBos: false });
    const kept = this.#keptTokens(parent, ids[0]);
    return {
      text,
      tokens: kept.tokens.append(ids.subarray(kept.isMarkerGenerated ? 1 : 0)),
      numKeptTokens: kept.tokens.length,
      numTokenizedTokens: ids.length,
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

  #render(head: PromptHead, items: readonly InputItem[], addGenerationPrompt: boolean) {
    const messages = toChatMessages(head.instructions, items);
    // Not even the head can be warmed: templates put the first message into it.
    if (messages.length === 0 && !addGenerationPrompt) return "" as RenderedText;
    try {
      return this.template.render(messages, {
        tools: toChatTools(head.tools),
        addGenerationPrompt,
        date: head.date,
      });
    } catch (error) {
      if (!(error instanceof Error) || error.name !== "TemplateError") throw error;
      throw invalidRequest("invalid_value", `the chat template failed: ${error.message}`, "input");
    }
  }
}

function rewriteReason(parent: PromptHead, next: PromptHead): MissReason {
  if (JSON.stringify(parent.tools) !== JSON.stringify(next.tools)) return "tools";
  if (parent.instructions !== next.instructions) return "instructions";
  return "history_rewrite";
}
