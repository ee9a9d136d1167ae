/**
 * What is left of a conversation when a summary takes the place of its past: the head, tools and settings
 * from along the way, the latest messages of the user, and, where an answer is to follow, the turn that it
 * belongs to. Pure.
 */
import { exceedsChars, jsonChars } from "../base/json-chars.ts";
import { summaryMessage } from "../protocol/parse-compaction.ts";
import type { ContextItem, MessageItem } from "../protocol/responses-types.ts";
import { headItems } from "./chat-messages.ts";
import { lastingPart } from "./context-items.ts";

export interface CompactionPlan {
  /** What the summary is made of. */
  readonly past: readonly ContextItem[];
  /** What stays as it is behind the summary. */
  readonly current: readonly ContextItem[];
}

/** @param maxCurrentChars a longer current turn is summarised as well */
export function planCompaction(
  items: readonly ContextItem[],
  maxCurrentChars: number,
): CompactionPlan {
  const start = items.findLastIndex(isUserMessage);
  const current = start === -1 ? [] : items.slice(start);
  const isShort = !exceedsChars(current, maxCurrentChars);
  const isQuestion = current.length === 1; // that still waits for its answer
  return isShort || isQuestion
    ? { past: items.slice(0, items.length - current.length), current }
    : { past: items, current: [] };
}

/** Something of the past would be gone. */
export function isWorthCompacting({ past }: CompactionPlan): boolean {
  return past.length > headItems(past).length;
}

/** The latest messages of the user, oldest first. */
export function keptMessages(
  past: readonly ContextItem[],
  maxChars: number,
): readonly MessageItem[] {
  const kept: MessageItem[] = [];
  let numChars = 0;
  for (const item of past.toReversed()) {
    if (!isUserMessage(item)) continue;
    numChars += jsonChars(item.content);
    if (numChars > maxChars) break;
    kept.unshift(item);
  }
  return kept;
}

export function compactedItems(
  { past, current }: CompactionPlan,
  kept: readonly MessageItem[],
  summary: { readonly id: string; readonly text: string },
): readonly ContextItem[] {
  const stays = new Set<ContextItem>([...headItems(past), ...kept]);
  return [
    ...past.flatMap((item) => (stays.has(item) ? item : (lastingPart(item) ?? []))),
    { ...summaryMessage(summary.text), id: summary.id },
    ...current,
  ];
}

function isUserMessage(item: ContextItem): item is MessageItem {
  return item.type === "message" && item.role === "user" && !item.isSummary;
}
