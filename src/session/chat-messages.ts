/**
 * Items to the messages that chat templates read. Depends on the items alone, never on where one
 * request ended and the next began, so that a chain and a full resend render the same text.
 * Reasoning stays in the turn it belongs to: that in front of the last user message is left out.
 */
import type {
  FunctionCallItem,
  ContextItem,
  MessageItem,
  ReasoningItem,
  Role,
} from "../protocol/responses-types.ts";
import { flatToolName } from "../protocol/tool-names.ts";
import type { ChatMessage, ChatToolCall } from "../text/text-types.ts";
import { spokenItems, type SpokenItem } from "./chat-tools.ts";
import type { PromptHead } from "./lane-state.ts";
import { leadsWithTools } from "./tool-set.ts";

type HeadFields = Pick<PromptHead, "instructions" | "tools">;

/**
 * `instructions` and a system or developer message at the very front form the first system turn;
 * later ones stay in place: moving them would rewrite a prefix that is already computed.
 */
export function toChatMessages(
  { instructions, tools }: HeadFields,
  items: readonly ContextItem[],
): readonly ChatMessage[] {
  const messages: ChatMessage[] = [];
  const spoken = spokenItems(tools, items);
  const leading = isSystemMessage(spoken[0]) ? [spoken[0]] : [];
  const systemTexts = [...(instructions ? [instructions] : []), ...leading.map(textOf)];
  if (systemTexts.length > 0) messages.push({ role: "system", content: systemTexts.join("\n\n") });
  const callNames = new Map<string, string>();
  const lastUser = spoken.findLastIndex((item) => item.type === "message" && item.role === "user");
  let reasoning = "";
  for (const [index, item] of spoken.entries()) {
    if (index < leading.length) continue;
    if (item.type !== "reasoning") appendItem(messages, item, reasoning, callNames);
    reasoning = item.type === "reasoning" && index > lastUser ? reasoning + item.text : "";
  }
  return messages;
}

/** The first system turn alone; empty without one. */
export function headMessages(
  head: HeadFields,
  items: readonly ContextItem[],
): readonly ChatMessage[] {
  return toChatMessages(head, headItems(items));
}

/** What the first system turn is made of besides the request's own fields. */
export function headItems(items: readonly ContextItem[]): readonly ContextItem[] {
  const leading = items.slice(0, leadsWithTools(items) ? 2 : 1);
  return isSystemMessage(leading.at(-1)) ? leading : [];
}

function isSystemMessage(item: ContextItem | undefined): item is MessageItem {
  return item?.type === "message" && isSystem(item.role);
}

/** @param reasoning what the model thought before it */
function appendItem(
  messages: ChatMessage[],
  item: Exclude<SpokenItem, ReasoningItem>,
  reasoning: string,
  callNames: Map<string, string>,
): void {
  switch (item.type) {
    case "message":
      messages.push({
        role: isSystem(item.role) ? "system" : item.role,
        content: textOf(item),
        ...(item.role === "assistant" && reasoningPart(reasoning)),
      });
      return;
    case "function_call":
      callNames.set(item.call_id, flatToolName(item.name, item.namespace));
      appendCall(messages, item, reasoning);
      return;
    case "function_call_output": {
      const name = callNames.get(item.call_id);
      messages.push({
        role: "tool",
        content: item.output,
        tool_call_id: item.call_id,
        ...(name === undefined ? {} : { name }),
      });
      return;
    }
  }
}

/** Calls right behind an assistant message, or behind each other, are one assistant turn. */
function appendCall(messages: ChatMessage[], item: FunctionCallItem, reasoning: string): void {
  const call: ChatToolCall = {
    id: item.call_id,
    type: "function",
    function: { name: flatToolName(item.name, item.namespace), arguments: item.arguments },
  };
  const last = messages.at(-1);
  if (last?.role === "assistant" && reasoning === "") {
    messages[messages.length - 1] = { ...last, tool_calls: [...(last.tool_calls ?? []), call] };
  } else {
    const part = reasoningPart(reasoning);
    messages.push({ role: "assistant", content: "", ...part, tool_calls: [call] });
  }
}

function reasoningPart(text: string): Pick<ChatMessage, "reasoning_content"> {
  return text === "" ? {} : { reasoning_content: text };
}

function isSystem(role: Role): boolean {
  return role === "system" || role === "developer";
}

function textOf(item: MessageItem): string {
  return item.content.map((part) => part.text).join("\n");
}
