/** What a conversation is, as short keys: equal for a chain and for a client that sends all of it again. */
import { createHash } from "node:crypto";
import { jsonChars } from "../base/json-chars.ts";
import type { ContextItem } from "../protocol/responses-types.ts";
import type { PromptHead } from "./lane-state.ts";

/** Keys of heads; a client's tools, which it sends each time, are read once. */
export class HeadKeys {
  readonly #toolKeys = new WeakMap<PromptHead["tools"], string>();

  keyOf(tenant: string, { instructions, tools, reasoningEffort }: PromptHead): string {
    const facts = [tenant, instructions, this.#keyOfTools(tools), reasoningEffort ?? null];
    return digest(JSON.stringify(facts));
  }

  #keyOfTools(tools: PromptHead["tools"]): string {
    const key = this.#toolKeys.get(tools) ?? digest(JSON.stringify(tools));
    this.#toolKeys.set(tools, key);
    return key;
  }
}

/** The beginning of a conversation. */
export interface Prefix {
  readonly key: string;
  /** Of its items; equal for equal keys. */
  readonly chars: number;
}

export function prefixWith({ key, chars }: Prefix, item: ContextItem): Prefix {
  const content = contentOf(item);
  return { key: keyWith(key, content), chars: chars + jsonChars(content) };
}

/**
 * The first one, without items, has the head's key; each further one has one more item, as long as they
 * have not more characters than asked for: huge conversations are like few others.
 */
export function prefixesOf(
  head: string,
  items: readonly ContextItem[],
  maxChars = Number.POSITIVE_INFINITY,
): readonly Prefix[] {
  let last: Prefix = { key: head, chars: 0 };
  const prefixes = [last];
  for (const item of items) {
    const content = contentOf(item);
    const chars = last.chars + jsonChars(content);
    if (chars > maxChars) break;
    last = { key: keyWith(last.key, content), chars };
    prefixes.push(last);
  }
  return prefixes;
}

function keyWith(key: string, content: unknown): string {
  return digest(`${key}${JSON.stringify(content)}`);
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
