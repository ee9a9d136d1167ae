/**
 * What a person wants to know of a chat template, found by rendering small conversations: whose markers
 * it has, whether it knows tools and thinking, and whether a longer conversation begins with the text
 * of the shorter one, so that nothing is computed twice.
 */
import type { ThinkingFormat, ToolFormat } from "./output/output-format.ts";
import { startOfThinking } from "./output/thinking-formats.ts";
import { TemplateError } from "./text-errors.ts";
import type { ChatMessage, ChatTemplate, ChatTool } from "./text-types.ts";

/** What a longer conversation changes of the text that it had before. */
export type Rewrite =
  /** The text in which a prompt ends, when the answer is behind it. */
  | "generation prompts"
  /** User turns, when they are not the last; often because the tools stand in front of the last. */
  | "user turns"
  | "answers"
  /** Calls, when their results are behind them. */
  | "calls"
  | "results"
  /** It is left out of earlier turns. */
  | "thinking";

export interface TemplateFacts {
  /** By its markers: `chatml`, `llama3`, ...; `other` when none is known. */
  readonly family: string;
  /** How tools are shown: by the template itself, by ChatML blocks, or as text of the system turn. */
  readonly tools: ChatTemplate["toolStyle"];
  /** How calls are written. */
  readonly calls: ToolFormat;
  /** null: the model does not think, as far as the template knows. */
  readonly thinking: { readonly format: ThinkingFormat; readonly isOpenedByPrompt: boolean } | null;
  /** Without thinking, a conversation's text begins with the text it had before each turn. */
  readonly appendOnly: boolean;
  /** Empty as well when nothing renders. */
  readonly rewrites: readonly Rewrite[];
  /** The template's words when it renders not even a plain conversation. */
  readonly failure: string | null;
}

const FAMILY_MARKERS: readonly (readonly [marker: string, family: string])[] = [
  ["<|im_start|>", "chatml"],
  ["<|start_header_id|>", "llama3"],
  ["<|start_of_role|>", "granite"],
  ["<|channel|>", "harmony"],
  ["<|message|>", "harmony"],
  ["<start_of_turn>", "gemma"],
  ["<|turn>", "gemma"],
  ["[INST]", "mistral"],
  ["<|im_user|>", "kimi"],
  ["<｜User｜>", "deepseek"],
  ["<|START_OF_TURN_TOKEN|>", "command-r"],
  ["[gMASK]", "glm"],
  ["<|user|>", "phi"],
  ["<|assistant_start|>", "apertus"],
  ["]~b]", "minimax"],
  ["<seed:bos>", "seed"],
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
  const conversation = [USER, ANSWER, NEXT_USER];
  const prompt = render(template, conversation, true, []) ?? "";
  const rewrites = new Set([
    ...rewritesOf(template, conversation, []),
    ...rewritesOf(template, [USER, CALL, RESULT, ANSWER, NEXT_USER], [TOOL]),
  ]);
  const { thinkingFormat } = template;
  const failure = failureOf(template, conversation);
  return {
    family: FAMILY_MARKERS.find(([marker]) => prompt.includes(marker))?.[1] ?? "other",
    tools: template.toolStyle,
    calls: template.toolFormat,
    thinking:
      thinkingFormat === undefined
        ? null
        : {
            format: thinkingFormat,
            isOpenedByPrompt: startOfThinking(thinkingFormat, prompt) === "open",
          },
    appendOnly: failure === null && rewrites.size === 0,
    rewrites: [...rewrites, ...(dropsThinking(template) ? (["thinking"] as const) : [])],
    failure,
  };
}

function dropsThinking(template: ChatTemplate): boolean {
  const answer = { ...ANSWER, reasoning_content: THOUGHT };
  const shown = render(template, [USER, answer], false, []);
  if (!shown?.includes(THOUGHT)) return false;
  return !render(template, [USER, answer, NEXT_USER], true, [])?.includes(THOUGHT);
}

/** Each prompt, and each closed answer, should begin with the text before it. */
function rewritesOf(
  template: ChatTemplate,
  messages: readonly ChatMessage[],
  tools: readonly ChatTool[],
): readonly Rewrite[] {
  const rewrites: Rewrite[] = [];
  let before = "";
  for (let count = 1; count <= messages.length; count++) {
    const turn = messages.slice(0, count);
    const isAnswer = turn.at(-1)?.role === "assistant";
    // A result is followed by an answer or by another result; a prompt ends where the model goes on.
    const text = render(template, turn, !isAnswer, tools);
    if (text === undefined) return [];
    if (!text.startsWith(before)) {
      const earlier = turn.slice(0, -1);
      const closed = render(template, earlier, false, tools);
      const isOnlyPrompt = isAnswer && closed !== undefined && text.startsWith(closed);
      rewrites.push(isOnlyPrompt ? "generation prompts" : rewriteOf(earlier.at(-1)));
    }
    before = text;
  }
  return rewrites;
}

function rewriteOf(message: ChatMessage | undefined): Rewrite {
  if (message?.role === "user") return "user turns";
  if (message?.role === "tool") return "results";
  return message?.tool_calls ? "calls" : "answers";
}

function failureOf(template: ChatTemplate, messages: readonly ChatMessage[]): string | null {
  try {
    template.render(messages, { tools: [], addGenerationPrompt: true, date: DATE });
    return null;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
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
