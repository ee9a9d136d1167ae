/** What a conversation is, as short keys: equal for a chain and for a client that sends all of it again. */
import { createHash } from "node:crypto";
import { jsonChars } from "../base/json-chars.ts";
import type { ContextItem } from "../protocol/responses-types.ts";
import type { PromptHead } from "./lane-state.ts";

export function headKey(tenant: string, head: PromptHead): string {
  const { instructions, tools, reasoningEffort } = head;
  return digest(JSON.stringify([tenant, instructions, tools, reasoningEffort ?? null]));
}

/** The key of a conversation with one more item. */
export function keyWith(key: string, item: ContextItem): string {
  return digest(`${key}${JSON.stringify(contentOf(item))}`);
}

/**
 * The first key, that of no items, is the head's; each further one has one more item, as long as they have
 * not more characters than asked for: huge conversations are like few others.
 */
export function prefixKeys(
  head: string,
  items: readonly ContextItem[],
  maxChars = Number.POSITIVE_INFINITY,
): readonly string[] {
  const keys = [head];
  let chars = 0;
  for (const item of items) {
    chars += contentChars([item]);
    if (chars > maxChars) break;
    keys.push(keyWith(keys.at(-1) ?? head, item));
  }
  return keys;
}

/** Equal for items with equal keys. */
export function contentChars(items: readonly ContextItem[]): number {
  return items.reduce((chars, item) => chars + jsonChars(contentOf(item)), 0);
}

/** Without ids of items and whatever else no prompt shows. */
function contentOf(item: ContextItem): unknown {
  const { type } = item;
  switch (type) {
    case "message":
      return [type, item.role, item.content.map(({ text }) => text).join("\n")];
    case "reasoning":
      return [type, item.text];
    case "function_call":
      return [type, item.call_id, item.namespace ?? null, item.name, item.arguments];
    case "function_call_output":
      return [type, item.call_id, item.output];
    case "additional_tools":
    case "tool_search_output":
      return [type, item.call_id ?? null, item.tools];
    case "configuration_update":
      return [type, item.reasoningEffort ?? null, item.textFormat ?? null];
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
