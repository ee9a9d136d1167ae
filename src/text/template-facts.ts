/**
 * What a person wants to know of a chat template, found by rendering small conversations: whose markers
 * it has, whether it knows tools and thinking, and whether a longer conversation begins with the text
 * of the shorter one, so that nothing is computed twice.
 */
import { TemplateError } from "./text-errors.ts";
import type { ChatMessage, ChatTemplate, ChatTool } from "./text-types.ts";

export interface TemplateFacts {
  /** By its markers: `chatml`, `llama3`, ...; `other` when none is known. */
  readonly family: string;
  /** How tools are shown: by the template itself, by ChatML blocks, or as text of the system turn. */
  readonly tools: ChatTemplate["toolStyle"];
  /** Turns have a place for thinking. */
  readonly thinking: boolean;
  /** Thinking of earlier turns is left out, which rewrites them. */
  readonly dropsOldThinking: boolean;
  /** Without thinking, a conversation's text begins with the text it had before each turn. */
  readonly appendOnly: boolean;
}

const FAMILY_MARKERS: readonly (readonly [marker: string, family: string])[] = [
  ["<|im_start|>", "chatml"],
  ["<|start_header_id|>", "llama3"],
  ["<|start_of_role|>", "granite"],
  ["<|channel|>", "harmony"],
  ["<|message|>", "harmony"],
  ["<start_of_turn>", "gemma"],
  ["[INST]", "mistral"],
  ["<|im_user|>", "kimi"],
  ["<｜User｜>", "deepseek"],
  ["<|START_OF_TURN_TOKEN|>", "command-r"],
  ["[gMASK]", "glm"],
  ["<|user|>", "phi"],
];

const DATE = new Date(0);
const TOOL: ChatTool = {
  type: "function",
  function: { name: "probe", description: "", parameters: { type: "object", properties: {} } },
};
const USER: ChatMessage = { role: "user", content: "probe question" };
const NEXT_USER: ChatMessage = { role: "user", content: "another probe question" };
const ANSWER: ChatMessage = { role: "assistant", content: "probe answer" };
const THOUGHT = "probe thought";
const CALL: ChatMessage = {
  role: "assistant",
  content: "",
  tool_calls: [
    { id: "call00001", type: "function", function: { name: "probe", arguments: '{"a": 1}' } },
  ],
};
const RESULT: ChatMessage = { role: "tool", content: "probe result", tool_call_id: "call00001" };

export function templateFacts(template: ChatTemplate): TemplateFacts {
  const thinkingAnswer = { ...ANSWER, reasoning_content: THOUGHT };
  const conversation = [USER, ANSWER, NEXT_USER];
  const thoughtful = render(template, [USER, thinkingAnswer], false, []) ?? "";
  const showsThought = thoughtful.includes(THOUGHT);
  const text = render(template, conversation, true, []) ?? "";
  const family = FAMILY_MARKERS.find(([marker]) => text.includes(marker))?.[1] ?? "other";
  return {
    family,
    tools: template.toolStyle,
    // Some only open a thought for the model; harmony has a channel for it.
    thinking: showsThought || text.includes("<think>") || family === "harmony",
    dropsOldThinking: showsThought && !isAppended(template, [USER, thinkingAnswer, NEXT_USER], []),
    appendOnly:
      isAppended(template, conversation, []) &&
      isAppended(template, [USER, CALL, RESULT, ANSWER, NEXT_USER], [TOOL]),
  };
}

/** Each prompt, and each closed answer, begins with the text before it. */
function isAppended(
  template: ChatTemplate,
  messages: readonly ChatMessage[],
  tools: readonly ChatTool[],
): boolean {
  let before = "";
  for (let count = 1; count <= messages.length; count++) {
    const turn = messages.slice(0, count);
    const isAnswer = turn.at(-1)?.role === "assistant";
    // A result is followed by an answer or by another result; a prompt ends where the model goes on.
    const text = render(template, turn, !isAnswer, tools);
    if (text === undefined || !text.startsWith(before)) return false;
    before = text;
  }
  return true;
}

/** undefined: the template refuses this conversation. */
function render(
  template: ChatTemplate,
  messages: readonly ChatMessage[],
  addGenerationPrompt: boolean,
  tools: readonly ChatTool[],
): string | undefined {
  try {
    return template.render(messages, { tools, addGenerationPrompt, date: DATE });
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}
