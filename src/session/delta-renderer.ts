/**
 * The text behind a parent's tokens, rendered from the new items and little else. A template may look
 * at more of a conversation than that, and may rewrite what it showed before: so each shape of a turn is
 * tried once, in several short conversations, against rendering them whole. Only where all agree
 * is the shape rendered by itself from then on.
 */
import { LRUCache } from "lru-cache";
import { ApiError } from "../protocol/api-error.ts";
import type { CallableTool, ContextItem } from "../protocol/responses-types.ts";
import { thinkingMarkers } from "../text/output/thinking-formats.ts";
import type { ChatTemplate, RenderedText } from "../text/text-types.ts";
import { isCall } from "./context-items.ts";
import { continuationSuffix, lastMarker, type ParentText } from "./delta-render.ts";
import type { PromptHead } from "./lane-state.ts";
import {
  minimalFrame,
  type MinimalFrame,
  PAST,
  type ParentItems,
  shapeOf,
} from "./minimal-frame.ts";
import { LONG_TOOL, probeCall, say, SHORT_TOOL } from "./probe-items.ts";

/** @throws {ApiError} with the template's message */
export type RenderItems = (
  head: PromptHead,
  items: readonly ContextItem[],
  addGenerationPrompt: boolean,
) => RenderedText;

export interface DeltaRequest {
  readonly head: PromptHead;
  /** Under the same head. */
  readonly parent: ParentItems;
  readonly items: readonly ContextItem[];
  readonly addGenerationPrompt: boolean;
}

/** A parent's conversation up to its last turn, that turn, and what comes behind it. */
interface SplitConversation {
  readonly head: PromptHead;
  readonly past: readonly ContextItem[];
  readonly last: readonly ContextItem[];
  /** See `MinimalFrame`. */
  readonly numLastPromptItems: number;
  readonly added: readonly ContextItem[];
}

type Continuation = Pick<DeltaRequest, "addGenerationPrompt"> & Pick<ParentItems, "generation">;

export interface DeltaMarkers {
  /** That can close an output. */
  readonly endMarkers: readonly string[];
  /** See `unguardedThoughtEnd`. */
  readonly thoughtEnd: string | undefined;
}

/**
 * Templates cut answers at the end of the thinking inside them. Where that is a control token the guard
 * has broken it; else the text that makes them do so.
 */
export function unguardedThoughtEnd(
  template: Pick<ChatTemplate, "guard" | "thinkingFormat">,
): string | undefined {
  const { thinkingFormat } = template;
  const end = thinkingFormat && thinkingMarkers(thinkingFormat)?.close;
  return end !== undefined && template.guard(end) === end ? end : undefined;
}

const MAX_SHAPES = 1024;
const MAX_FRAME_PROMPTS = 16;

export class DeltaRenderer {
  readonly #render: RenderItems;
  readonly #markers: DeltaMarkers;
  /** The text that an output follows, in a frame of either kind. */
  readonly #framePrompts = new LRUCache<string, RenderedText>({ max: MAX_FRAME_PROMPTS });
  readonly #isLocal = new LRUCache<string, boolean>({ max: MAX_SHAPES });

  constructor(render: RenderItems, markers: DeltaMarkers) {
    this.#render = render;
    this.#markers = markers;
  }

  /**
   * What comes behind the parent's tokens, as `continuationSuffix`; undefined when the conversation
   * must be rendered whole to know.
   */
  suffix({ head, parent, items, addGenerationPrompt }: DeltaRequest): RenderedText | undefined {
    const frame = minimalFrame(parent, items, this.#markers.thoughtEnd);
    if (frame === undefined) return undefined;
    const continuation = { addGenerationPrompt, generation: parent.generation };
    const frameHead = headLike(head, [SHORT_TOOL]);
    if (!this.#isRenderedAlike(frame, frameHead, continuation)) return undefined;
    return this.#suffixIn({ head: frameHead, past: PAST, ...frame }, continuation);
  }

  /**
   * An output behind a short prompt, without what closes it; undefined where the template does not show
   * it behind the text that the model went on from.
   */
  outputBehindPrompt(head: PromptHead, output: readonly ContextItem[]) {
    const frameHead = headLike(head, [SHORT_TOOL]);
    const promptText = this.#promptOf(frameHead, PAST);
    const closed = this.#render(frameHead, [...PAST, ...output], false);
    const end = lastMarker(closed, this.#markers.endMarkers);
    if (!closed.startsWith(promptText) || end < promptText.length) return undefined;
    return { promptText, text: closed.slice(0, end) as RenderedText };
  }

  /** By the shape of the frame: of every conversation with it, or of none. */
  #isRenderedAlike(frame: MinimalFrame, head: PromptHead, continuation: Continuation): boolean {
    const shape = shapeOf(frame);
    const { tools, reasoningEffort } = head;
    const key = JSON.stringify([shape, tools.length, reasoningEffort, continuation]);
    const known = this.#isLocal.get(key);
    if (known !== undefined) return known;
    const inFrame = this.#suffixIn({ head, past: PAST, ...shape }, continuation);
    const isLocal =
      inFrame !== undefined &&
      wholeConversations(shape, head).every(
        (conversation) => this.#suffixIn(conversation, continuation) === inFrame,
      );
    this.#isLocal.set(key, isLocal);
    return isLocal;
  }

  #promptOf(head: PromptHead, items: readonly ContextItem[]): RenderedText {
    if (items !== PAST) return this.#render(head, items, true);
    const { tools, date, reasoningEffort } = head;
    const key = JSON.stringify([tools.length, date, reasoningEffort]);
    const known = this.#framePrompts.get(key) ?? this.#render(head, items, true);
    this.#framePrompts.set(key, known);
    return known;
  }

  #suffixIn(
    { head, past, last, numLastPromptItems, added }: SplitConversation,
    { generation, addGenerationPrompt }: Continuation,
  ): RenderedText | undefined {
    const parent = [...past, ...last];
    const prompt =
      numLastPromptItems === 0 ? past : [...past, ...last.slice(0, numLastPromptItems)];
    try {
      const next = this.#render(head, [...parent, ...added], addGenerationPrompt);
      const closed = this.#render(head, parent, false);
      const parentText: ParentText =
        generation === "none"
          ? { promptText: closed, closedText: undefined }
          : { promptText: this.#promptOf(head, prompt), closedText: closed };
      return continuationSuffix(parentText, next, this.#markers.endMarkers);
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  }
}

/** Pasts that templates treat differently: first turns, later ones, calls before, other tools. */
function wholeConversations(
  { last, numLastPromptItems, added, hasOpenReasoning }: MinimalFrame,
  head: PromptHead,
): readonly SplitConversation[] {
  const instructed = { ...headLike(head, [LONG_TOOL, SHORT_TOOL]), instructions: "Probe." };
  const question = say("user", "A probe question?");
  const answer = say("assistant", "A probe answer.");
  const later = [question, answer, question];
  const thought: readonly ContextItem[] = hasOpenReasoning
    ? [{ type: "reasoning", text: "A probe thought." }]
    : [];
  const used = [...later, ...thought, ...probeCall("call_a")];
  const usedTwice = [...used, ...thought, ...probeCall("call_b")];
  const canCall = head.tools.length > 0 || [...last, ...added].some(isCall);
  const withCalls = [
    { head, past: [...used, answer, question] },
    { head: instructed, past: usedTwice },
  ];
  const pasts = [
    { head, past: later },
    { head: instructed, past: [question] },
    { head: instructed, past: [question, answer, say("developer", "A probe rule."), question] },
    ...(canCall ? withCalls : []),
  ];
  return pasts.map((past) => ({ ...past, last, numLastPromptItems, added }));
}

/** Without its own words; with tools only if it has some. */
function headLike(head: PromptHead, tools: readonly CallableTool[]): PromptHead {
  return { ...head, instructions: null, tools: head.tools.length > 0 ? tools : [] };
}
