/**
 * Brings a history into the form that a template accepts, so that awkward histories render instead of
 * failing. Each message is rewritten by itself or joined with its neighbour: nothing moves to the front
 * and the outcome depends on the messages alone.
 */

import { isJsonObject } from "../base/json-object.ts";
import type { TemplateTraits } from "./template-traits.ts";
import type { ChatMessage, ChatToolCall } from "./text-types.ts";
import { callBlock, toolResponseBlock } from "./tool-blocks.ts";

export function conformMessages(
  messages: readonly ChatMessage[],
  traits: TemplateTraits,
): readonly ChatMessage[] {
  const conformed = messages.map((message, index) =>
    conformSystem(conformCalls(message, traits), index === 0, traits),
  );
  const paired = traits.takesLoneResults ? conformed : loneResultsAsText(conformed);
  return traits.needsAlternation ? alternate(unansweredCallsAsText(paired)) : paired;
}

/** `arguments` of a call parsed, or undefined when they are no JSON object. */
export function parseArguments(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Calls and results as text of ordinary turns, for templates that know neither. */
export function callsAsText(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.map(toolPartAsText);
}

function toolPartAsText(message: ChatMessage): ChatMessage {
  if (message.role === "tool") return resultAsText(message);
  return message.tool_calls ? appendCallText(message, message.tool_calls, []) : message;
}

function resultAsText(message: ChatMessage): ChatMessage {
  return { role: "user", content: toolResponseBlock(message.content) };
}

/**
 * Templates that check alternation do not count calls and results as turns: where the user went on
 * instead of the assistant, they would see two user turns in a row.
 */
function unansweredCallsAsText(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  let isUnanswered = false;
  return messages.map((message, index) => {
    if (message.role === "tool") return isUnanswered ? resultAsText(message) : message;
    if (!message.tool_calls?.length) return message;
    let next = index + 1;
    while (messages[next]?.role === "tool") next++;
    isUnanswered = next < messages.length && messages[next]?.role !== "assistant";
    return isUnanswered ? toolPartAsText(message) : message;
  });
}

function loneResultsAsText(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  let isBehindCall = false;
  return messages.map((message) => {
    if (message.role !== "tool") isBehindCall = (message.tool_calls?.length ?? 0) > 0;
    return message.role === "tool" && !isBehindCall ? resultAsText(message) : message;
  });
}

function conformCalls(message: ChatMessage, traits: TemplateTraits): ChatMessage {
  const calls = message.tool_calls;
  if (!calls || traits.callArguments === "text" || traits.takesBrokenArguments) return message;
  const isWhole = (call: ChatToolCall): boolean =>
    parseArguments(call.function.arguments) !== undefined;
  const broken = calls.filter((call) => !isWhole(call));
  return broken.length === 0 ? message : appendCallText(message, broken, calls.filter(isWhole));
}

function appendCallText(
  message: ChatMessage,
  asText: readonly ChatToolCall[],
  kept: readonly ChatToolCall[],
): ChatMessage {
  const { tool_calls: _, ...rest } = message;
  const blocks = asText.map((call) => callBlock(call.function.name, call.function.arguments));
  const content = [message.content, ...blocks].filter((text) => text !== "").join("\n");
  return kept.length === 0 ? { ...rest, content } : { ...rest, content, tool_calls: kept };
}

function conformSystem(
  message: ChatMessage,
  isFirst: boolean,
  traits: TemplateTraits,
): ChatMessage {
  if (message.role !== "system" && message.role !== "developer") return message;
  if (isFirst ? traits.leadingSystem : traits.systemInPlace) return { ...message, role: "system" };
  return {
    role: "user",
    content: isFirst ? message.content : `[System message]\n${message.content}`,
  };
}

/** Joins neighbours of one role; a conversation that the assistant opens gets an empty user turn. */
function alternate(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const turns: ChatMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last && last.role === message.role && last.role !== "tool") {
      turns[turns.length - 1] = join(last, message);
    } else {
      if (message.role === "assistant" && (!last || last.role === "system")) {
        turns.push({ role: "user", content: "" });
      }
      turns.push(message);
    }
  }
  return turns;
}

function join(first: ChatMessage, second: ChatMessage): ChatMessage {
  const content = [first.content, second.content].filter((text) => text !== "").join("\n\n");
  const calls = [...(first.tool_calls ?? []), ...(second.tool_calls ?? [])];
  return { ...first, ...second, content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}
