/**
 * A conversation as short as can be, in which new items look as they do behind the whole one: a user
 * turn that stands for the past, then the last turn of the parent with its texts replaced, then the
 * new items. Made of items alone; whether a template agrees is for `DeltaRenderer` to find out.
 */
import type { ContextItem } from "../protocol/responses-types.ts";
import { parseArguments } from "../text/conform-messages.ts";
import { isCall, isExtension, isUserMessage } from "./context-items.ts";
import { spokenItems } from "./chat-tools.ts";
import type { LaneState } from "./lane-state.ts";
import { definesTools } from "./tool-set.ts";

/** What is known of a parent whose prompt goes on. */
export type ParentItems = Pick<LaneState, "head" | "items" | "numPromptItems" | "generation">;

export interface MinimalFrame {
  /** The parent's last assistant turn and what stands behind it, without their texts. */
  readonly last: readonly ContextItem[];
  /** Of them, those in front of the output: a client can end its prompt with words of the assistant. */
  readonly numLastPromptItems: number;
  readonly added: readonly ContextItem[];
  /** Thinking that templates may show until the next user turn. */
  readonly hasOpenReasoning: boolean;
}

/** Beyond it a frame is no shortcut, and few conversations share its shape. */
const MAX_FRAME_ITEMS = 64;
const STUB_TEXT = "x";
/** Stands for everything before the last turn. */
export const PAST: readonly ContextItem[] = [
  { type: "message", role: "user", content: [{ type: "input_text", text: STUB_TEXT }] },
];

/**
 * undefined: the new items depend on more of the conversation than a frame has.
 * @param thoughtEnd in front of it an answer is thinking
 */
export function minimalFrame(
  parent: ParentItems,
  items: readonly ContextItem[],
  thoughtEnd: string | undefined,
): MinimalFrame | undefined {
  if (!isExtension(items, parent.items)) return undefined;
  const added = addedItems(parent, items);
  const last = lastTurn(parent);
  if (last === undefined || last.items.length + added.length > MAX_FRAME_ITEMS) return undefined;
  const hasOpenReasoning = openItems(parent.items).some((item) => hasThinking(item, thoughtEnd));
  // It is left out of the past from then on.
  if (hasOpenReasoning && added.some(isUserMessage)) return undefined;
  const spoken = [...last.items, ...added];
  if (!hasAllCalls(spoken)) return undefined;
  const hidesCalls = parent.head.tools.length === 0 && !spoken.some(isCall);
  if (hidesCalls && parent.items.some(isCall)) return undefined;
  const { numPromptItems: numLastPromptItems } = last;
  return { last: last.items.map(withoutTexts), numLastPromptItems, added, hasOpenReasoning };
}

/** What a late definition shows depends on those before it: they stand in the frame as they are spoken. */
function addedItems({ head, items: past }: ParentItems, items: readonly ContextItem[]) {
  const added = items.slice(past.length);
  if (!added.some(definesTools)) return added;
  return spokenItems(head.tools, items).slice(spokenItems(head.tools, past).length);
}

/** From the start of the last assistant turn; undefined without one, or where the output is not in it. */
function lastTurn({ items, numPromptItems, generation }: ParentItems) {
  const lastSpoken = items.findLastIndex(isAssistant);
  const start = items.findLastIndex((item, index) => index < lastSpoken && !isAssistant(item)) + 1;
  const isWarmup = generation === "none";
  const hasOutput = isWarmup || start <= numPromptItems;
  const hasPast = items.slice(0, start).some(isUserMessage);
  if (lastSpoken < 0 || !hasOutput || !hasPast) return undefined;
  return { items: items.slice(start), numPromptItems: isWarmup ? 0 : numPromptItems - start };
}

/** Behind the last user message. */
function openItems(items: readonly ContextItem[]): readonly ContextItem[] {
  return items.slice(items.findLastIndex(isUserMessage) + 1);
}

function hasThinking(item: ContextItem, thoughtEnd: string | undefined): boolean {
  if (item.type === "reasoning") return true;
  if (thoughtEnd === undefined || item.type !== "message" || !isAssistant(item)) return false;
  return item.content.some(({ text }) => text.includes(thoughtEnd));
}

function hasAllCalls(items: readonly ContextItem[]): boolean {
  const callIds = new Set(items.filter(isCall).map(({ call_id }) => call_id));
  return items.every(
    (item) => !("call_id" in item) || item.call_id === undefined || callIds.has(item.call_id),
  );
}

/**
 * The frame with nothing left of what was said: conversations that have this in common are rendered
 * alike.
 */
export function shapeOf({ last, added, ...rest }: MinimalFrame): MinimalFrame {
  const callIds = new Map<string, string>();
  const nameless = (item: ContextItem): ContextItem => {
    const { id: _, ...stub } = withoutTexts(item);
    if (!("call_id" in stub) || stub.call_id === undefined) return stub;
    const callId = callIds.get(stub.call_id) ?? `call_${callIds.size}`;
    callIds.set(stub.call_id, callId);
    if (stub.type !== "function_call") return { ...stub, call_id: callId };
    const { namespace: _namespace, ...call } = stub;
    return { ...call, call_id: callId, name: "probe" };
  };
  return { ...rest, last: last.map(nameless), added: added.map(nameless) };
}

function withoutTexts(item: ContextItem): ContextItem {
  switch (item.type) {
    case "message": {
      const text = item.content.map((part) => part.text).join("\n");
      const type = item.role === "assistant" ? "output_text" : "input_text";
      return { ...item, content: [{ type, text: stubOf(text) }] };
    }
    case "reasoning":
      return { ...item, text: stubOf(item.text) };
    case "function_call":
      return { ...item, arguments: parseArguments(item.arguments) ? "{}" : STUB_TEXT };
    case "function_call_output":
      return { ...item, output: stubOf(item.output) };
    case "additional_tools":
    case "tool_search_output":
      return { ...item, tools: [] };
    case "configuration_update":
      return { type: item.type };
  }
}

function stubOf(text: string): string {
  return text === "" ? "" : STUB_TEXT;
}

function isAssistant(item: ContextItem): boolean {
  const isMessage = item.type === "message" && item.role === "assistant";
  return isMessage || item.type === "function_call" || item.type === "reasoning";
}
