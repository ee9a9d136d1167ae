/**
 * Items to text, and text to ids: the part of building a prompt that takes long for a large one, and
 * that needs nothing but plain data, so that it can run on another thread (`ComposePool`).
 */
import { invalidRequest } from "../protocol/api-error.ts";
import type { ContextItem } from "../protocol/responses-types.ts";
import { TemplateError } from "../text/text-errors.ts";
import type { ChatMessage, ChatTemplate, RenderedText, TextModel } from "../text/text-types.ts";
import { headMessages, toChatMessages } from "./chat-messages.ts";
import { toChatTools } from "./chat-tools.ts";
import { continuationSuffix, sliceRendered } from "./delta-render.ts";
import type { LaneState, PromptHead } from "./lane-state.ts";
import { type EncodedPrompt, TokenCache } from "./token-cache.ts";

const MAX_MARKER_CHARS = 64; // the longest control literals seen have 30

/** What the text of the next prompt depends on. */
export type ParentPrompt = Pick<LaneState, "head" | "items" | "promptText" | "generation">;

export interface ComposeRequest {
  readonly tenant: string;
  readonly head: PromptHead;
  readonly items: readonly ContextItem[];
  readonly parent: ParentPrompt | undefined;
  /** false for a warmup: later items follow where the generation prompt would be. */
  readonly addGenerationPrompt: boolean;
}

export interface ComposedPrompt {
  readonly text: RenderedText;
  /** `suffix`: the ids stand behind the parent's. */
  readonly extent: "whole" | "suffix";
  readonly ids: Int32Array;
  /** Tokens that the tokenizer had to make. */
  readonly numTokenizedTokens: number;
}

export class PromptComposer {
  readonly #model: Pick<TextModel, "tokenizer">;
  readonly #template: ChatTemplate;
  readonly #cache: TokenCache;
  readonly #endMarkers: readonly string[];

  constructor(model: Pick<TextModel, "tokenizer">, template: ChatTemplate) {
    this.#model = model;
    this.#template = template;
    this.#cache = new TokenCache(model.tokenizer);
    this.#endMarkers = [...model.tokenizer.eogIds].map((id) => model.tokenizer.tokenText(id));
  }

  /** @throws {ApiError} invalid_value with the template's own message */
  async compose(request: ComposeRequest): Promise<ComposedPrompt> {
    const { head, items, parent, addGenerationPrompt } = request;
    const text = this.#render(head, items, addGenerationPrompt);
    const suffix = parent && this.#suffixBehind(parent, text);
    if (suffix === undefined) {
      return { text, extent: "whole", ...(await this.#encodeWhole(request, text)) };
    }
    const ids = await this.#model.tokenizer.encodeAsync(suffix, { addBos: false });
    return { text, extent: "suffix", ids, numTokenizedTokens: ids.length };
  }

  /** undefined: the prompt does not go on behind the parent's tokens. */
  #suffixBehind(parent: ParentPrompt, text: RenderedText): RenderedText | undefined {
    const { generation, promptText } = parent;
    if (generation === "cut") return undefined;
    const closedText =
      generation === "none" ? undefined : this.#render(parent.head, parent.items, false);
    const suffix = continuationSuffix({ promptText, closedText }, text, this.#endMarkers);
    const isUsable = suffix === undefined || suffix === "" || this.#startsWithMarker(suffix);
    return isUsable ? suffix : undefined;
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
    return this.#template.render(messages, { tools, addGenerationPrompt, date, reasoningEffort });
  }
}
