/**
 * Items to prompt tokens. On a chain the whole text is rendered again (linear, cheap) but only what
 * is behind the parent's tokens is tokenised, and what the model generated stays as its ids. When
 * the template rewrote history or the head changed, everything is tokenised again and the reason
 * is reported.
 */
import { invalidRequest } from "../protocol/api-error.ts";
import type { ContextItem, MissReason } from "../protocol/responses-types.ts";
import { TemplateError } from "../text/text-errors.ts";
import type { ChatMessage, ChatTemplate, RenderedText, TextModel } from "../text/text-types.ts";
import { headMessages, toChatMessages } from "./chat-messages.ts";
import { toChatTools } from "./chat-tools.ts";
import { continuationSuffix, sliceRendered } from "./delta-render.ts";
import type { LaneState, PromptHead } from "./lane-state.ts";
import { type EncodedPrompt, TokenCache } from "./token-cache.ts";
import { TokenList } from "./token-list.ts";

const MAX_MARKER_CHARS = 64; // the longest control literals seen have 30

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
  readonly items: readonly ContextItem[];
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
  async build(request: PromptRequest): Promise<Prompt> {
    const text = this.#render(request.head, request.items, request.addGenerationPrompt);
    // A warmup without messages has no tokens: what follows it is a first turn.
    const parent = request.parent?.tokens.length === 0 ? undefined : request.parent;
    const continued = parent && (await this.#continue(parent, text));
    if (continued) return continued;
    const { ids, numTokenizedTokens } = await this.#encodeWhole(request, text);
    return {
      text,
      tokens: TokenList.from(ids),
      numKeptTokens: 0,
      numTokenizedTokens,
      ...(parent && { rewriteReason: rewriteReason(parent.head, request.head) }),
    };
  }

  /** Instructions and tools are cached apart: a task with the same ones encodes its own words only. */
  async #encodeWhole(
    { tenant, head, items }: PromptRequest,
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
      return this.#renderMessages(head, headMessages(head, items), false);
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

  async #continue(parent: LaneState, text: RenderedText): Promise<Prompt | undefined> {
    if (parent.generation === "cut") return undefined;
    const { promptText } = parent;
    const closedText =
      parent.generation === "none" ? undefined : this.#render(parent.head, parent.items, false);
    const suffix = continuationSuffix({ promptText, closedText }, text, this.#endMarkers);
    if (suffix === undefined || (suffix !== "" && !this.#startsWithMarker(suffix)))
      return undefined;
    const ids = await this.#model.tokenizer.encodeAsync(suffix, { addBos: false });
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

  /** @throws {ApiError} */
  #render(head: PromptHead, items: readonly ContextItem[], addGenerationPrompt: boolean) {
    try {
      const messages = toChatMessages(head, items);
      return this.#renderMessages(head, messages, addGenerationPrompt);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      throw invalidRequest("invalid_value", `the chat template failed: ${error.message}`, "input");
    }
  }

  /** @throws {TemplateError} */
  #renderMessages(
    head: PromptHead,
    messages: readonly ChatMessage[],
    addGenerationPrompt: boolean,
  ): RenderedText {
    // Not even the head can be warmed without a message: templates put the first one into it.
    if (messages.length === 0 && !addGenerationPrompt) return "" as RenderedText;
    const tools = toChatTools(head.tools);
    const { date, reasoningEffort } = head;
    return this.template.render(messages, { tools, addGenerationPrompt, date, reasoningEffort });
  }
}

function rewriteReason(parent: PromptHead, next: PromptHead): MissReason {
  if (parent.reasoningEffort !== next.reasoningEffort) return "template";
  if (JSON.stringify(parent.tools) !== JSON.stringify(next.tools)) return "tools";
  if (parent.instructions !== next.instructions) return "instructions";
  return "history_rewrite";
}
