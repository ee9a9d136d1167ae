/** The text of items under a head, as a chat template shows it. */
import { invalidRequest } from "../protocol/api-error.ts";
import type { ContextItem } from "../protocol/responses-types.ts";
import { TemplateError } from "../text/text-errors.ts";
import type { ChatMessage, ChatTemplate, RenderedText } from "../text/text-types.ts";
import { toChatMessages } from "./chat-messages.ts";
import { toChatTools } from "./chat-tools.ts";
import type { PromptHead } from "./lane-state.ts";

/** @throws {ApiError} invalid_value with the template's own message */
export function renderItems(
  template: ChatTemplate,
  head: PromptHead,
  items: readonly ContextItem[],
  addGenerationPrompt: boolean,
): RenderedText {
  try {
    return renderMessages(template, head, toChatMessages(head, items), addGenerationPrompt);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw invalidRequest("invalid_value", `the chat template failed: ${error.message}`, "input");
  }
}

/** @throws {TemplateError} */
export function renderMessages(
  template: ChatTemplate,
  head: PromptHead,
  messages: readonly ChatMessage[],
  addGenerationPrompt: boolean,
): RenderedText {
  // Not even the head can be warmed without a message: templates put the first one into it.
  if (messages.length === 0 && !addGenerationPrompt) return "" as RenderedText;
  const tools = toChatTools(head.tools);
  const { date, reasoningEffort } = head;
  return template.render(messages, { tools, addGenerationPrompt, date, reasoningEffort });
}
