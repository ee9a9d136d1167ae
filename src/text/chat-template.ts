/**
 * Renders conversations with the template of a checkpoint, or with one of our own where the
 * checkpoint has none or has one that cannot show tools. Everything that comes from messages and tools
 * is guarded before the template sees it.
 */

import { isJsonObject } from "../base/json-object.ts";
import { callsAsText, conformMessages, parseArguments } from "./conform-messages.ts";
import type { Guard } from "./guard.ts";
import { JinjaProgram } from "./jinja-program.ts";
import { detectTaughtFormat, detectThinkingFormat } from "./output/detect-format.ts";
import type { ThinkingFormat, ToolFormat } from "./output/output-format.ts";
import { type TaughtFormat, writeCalls } from "./output/write-calls.ts";
import { probeTemplate, type TemplateTraits } from "./template-traits.ts";
import { CHATML_TOOLS_TEMPLATE } from "./templates/chatml-tools.ts";
import { TURNS_TEMPLATE } from "./templates/turns.ts";
import { TemplateError } from "./text-errors.ts";
import type {
  ChatMessage,
  ChatTemplate,
  ChatTool,
  RenderedText,
  RenderOptions,
  ToolStyle,
} from "./text-types.ts";
import { toolListText } from "./tool-blocks.ts";

export interface ChatTemplateParts {
  /** Given by the user: it must parse. */
  readonly override: string | undefined;
  /** The checkpoint's; undefined takes one of our own by marker tokens. */
  readonly source: string | undefined;
  readonly hasToken: (text: string) => boolean;
  readonly bosText: string | undefined;
  readonly eosText: string | undefined;
  readonly guard: Guard;
}

export interface ChosenTemplate {
  /** undefined: there is no template and no known marker token. */
  readonly template: ChatTemplate | undefined;
  /** For the operator, when chat is not what the checkpoint's author meant. */
  readonly warning: string | undefined;
}

const OVERRIDE_HINT = "--chat-template FILE gives another";

/** @throws {TemplateError} when the override does not parse */
export function chooseChatTemplate(parts: ChatTemplateParts): ChosenTemplate {
  const hasChatMl = parts.hasToken("<|im_start|>") && parts.hasToken("<|im_end|>");
  const given = parts.override ?? parts.source;
  const own = given === undefined ? ownTemplate(hasChatMl, parts) : undefined;
  const source = given ?? own?.source;
  if (source === undefined) {
    const warning = `the model has no chat template and no marker tokens of a known one: only /v1/completions works; ${OVERRIDE_HINT}`;
    return { template: undefined, warning };
  }
  try {
    return { template: new ModelChatTemplate(source, hasChatMl, parts), warning: own?.warning };
  } catch (error) {
    if (!(error instanceof TemplateError) || parts.override !== undefined) throw error;
    const warning = `the model's chat template does not parse (${error.message}): only /v1/completions works; ${OVERRIDE_HINT}`;
    return { template: new UnusableChatTemplate(error, parts.guard), warning };
  }
}

/** One of our own for a checkpoint without a template, by its marker tokens. */
function ownTemplate(hasChatMl: boolean, { hasToken }: ChatTemplateParts) {
  const warning = (name: string, marker: string): string =>
    `the model has no chat template: chat uses ${name}, for its tokens ${marker}; ${OVERRIDE_HINT}`;
  if (hasChatMl) {
    return { source: CHATML_TOOLS_TEMPLATE, warning: warning("ChatML", "<|im_start|>") };
  }
  if (!hasToken("<start_of_turn>")) return undefined;
  return { source: TURNS_TEMPLATE, warning: warning("plain turns", "<start_of_turn>") };
}

/** Stands for a template that does not parse: everything but chat works without it. */
class UnusableChatTemplate implements ChatTemplate {
  readonly toolFormat = "hermes";
  readonly thinkingFormat = undefined;
  readonly toolStyle = "text";
  readonly #error: TemplateError;
  readonly #guard: Guard;

  constructor(error: TemplateError, guard: Guard) {
    this.#error = error;
    this.#guard = guard;
  }

  render(): RenderedText {
    throw this.#error;
  }

  guard(text: string): RenderedText {
    return this.#guard.guard(text);
  }
}

interface ProbedProgram {
  readonly program: JinjaProgram;
  readonly traits: TemplateTraits;
  /** The template shows tools but no calls: they go into the content, as the model writes them. */
  readonly callsInContent?: TaughtFormat;
}

class ModelChatTemplate implements ChatTemplate {
  readonly toolFormat: ToolFormat;
  readonly thinkingFormat: ThinkingFormat | undefined;
  readonly #guard: Guard;
  readonly #tokens: Readonly<Record<string, string | undefined>>;
  readonly #main: ProbedProgram;
  /** For conversations with tools; undefined: they go as text into the turns of the main template. */
  readonly #tools: ProbedProgram | undefined;

  constructor(source: string, hasChatMl: boolean, parts: ChatTemplateParts) {
    this.#guard = parts.guard;
    this.#tokens = { bos_token: parts.bosText, eos_token: parts.eosText };
    this.#main = this.#compile(source);
    this.#tools = this.#toolProgram(source, hasChatMl);
    // Hermes: our own blocks, and templates with a form that nobody knows.
    this.toolFormat = this.#tools?.callsInContent ?? this.#tools?.traits.toolFormat ?? "hermes";
    this.thinkingFormat = detectThinkingFormat(source);
  }

  get toolStyle(): ToolStyle {
    if (this.#tools === undefined) return "text";
    return this.#tools.program === this.#main.program ? "own" : "chatml";
  }

  render(messages: readonly ChatMessage[], options: RenderOptions): RenderedText {
    const usesTools =
      options.tools.length > 0 || messages.some((m) => m.role === "tool" || m.tool_calls?.length);
    if (!usesTools) return this.#run(this.#main, messages, options);
    if (this.#tools) return this.#run(this.#tools, messages, options);
    const asText = withToolList(callsAsText(messages), options.tools);
    return this.#run(this.#main, asText, { ...options, tools: [] });
  }

  guard(text: string): RenderedText {
    return this.#guard.guard(text);
  }

  #compile(source: string): ProbedProgram {
    const program = new JinjaProgram(source);
    return { program, traits: probeTemplate(program, this.#tokens) };
  }

  #toolProgram(source: string, hasChatMl: boolean): ProbedProgram | undefined {
    const { program, traits } = this.#main;
    if (traits.showsTools) return this.#main;
    const callsInContent = traits.listsTools ? detectTaughtFormat(source) : undefined;
    if (callsInContent !== undefined) {
      return { program, traits: { ...traits, callArguments: "text" }, callsInContent };
    }
    return hasChatMl ? this.#compile(CHATML_TOOLS_TEMPLATE) : undefined;
  }

  #run(
    { program, traits, callsInContent }: ProbedProgram,
    messages: readonly ChatMessage[],
    options: RenderOptions,
  ): RenderedText {
    const tools = options.tools.map((tool) => this.#templateTool(tool, traits));
    const variables = {
      ...this.#tokens,
      messages: conformMessages(messages, traits).map((message) =>
        callsInContent === undefined
          ? this.#templateMessage(message, traits)
          : this.#messageWithCalls(message, traits, callsInContent),
      ),
      tools: tools.length > 0 || traits.needsToolList ? tools : null,
      documents: null,
      add_generation_prompt: options.addGenerationPrompt,
      ...thinkingVariables(options.reasoningEffort),
    };
    return program.render(variables, options.date) as RenderedText;
  }

  #templateMessage(message: ChatMessage, traits: TemplateTraits): object {
    const { role, tool_calls: calls, tool_call_id: resultOf, ...texts } = message;
    const callId = (id: string): string =>
      this.#guard.guard(traits.needsShortCallIds ? shortCallId(id) : id);
    const guarded = {
      ...(this.#guard.guardJson(definedOnly(this.#withThinking(texts, calls))) as object),
      ...(resultOf !== undefined && { tool_call_id: callId(resultOf) }),
    };
    if (!calls || calls.length === 0) return { role, ...guarded };
    const toolCalls = calls.map((call) => ({
      id: callId(call.id),
      type: call.type,
      function: {
        name: this.#guard.guard(call.function.name),
        arguments: this.#templateArguments(call.function.arguments, traits),
      },
    }));
    return { role, ...guarded, tool_calls: toolCalls };
  }

  /** The markers of the calls become tokens; their names and arguments do not. */
  #messageWithCalls(message: ChatMessage, traits: TemplateTraits, format: TaughtFormat): object {
    const { tool_calls: calls = [], ...rest } = message;
    const guarded = this.#templateMessage(rest, traits);
    if (calls.length === 0) return guarded;
    const written = calls.map(({ function: { name, arguments: args } }) => ({
      name: this.#guard.guard(name),
      args: this.#guard.guard(args),
    }));
    const content = this.#guard.guard(message.content) + writeCalls(format, written);
    return { ...guarded, content };
  }

  /** Harmony's templates have a name of their own for it, and refuse it beside text and calls. */
  #withThinking(
    texts: Pick<ChatMessage, "content" | "reasoning_content">,
    calls: ChatMessage["tool_calls"],
  ): object {
    const { content, reasoning_content: thinking } = texts;
    const isRefused = content !== "" && calls !== undefined;
    return this.thinkingFormat !== "harmony" || isRefused ? texts : { ...texts, thinking };
  }

  #templateArguments(text: string, traits: TemplateTraits): unknown {
    const parsed = traits.callArguments === "object" ? parseArguments(text) : undefined;
    return this.#guard.guardJson(parsed ?? text);
  }

  #templateTool({ type, function: declared }: ChatTool, traits: TemplateTraits): object {
    const { parameters } = declared;
    const isBare = isJsonObject(parameters) && !isJsonObject(parameters.properties);
    const whole =
      traits.needsToolProperties && isBare
        ? { ...declared, parameters: { ...parameters, properties: {} } }
        : declared;
    return { type, function: this.#guard.guardJson(definedOnly(whole)) };
  }
}

const EFFORT_LEVELS: Readonly<Record<string, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};

/** The names that templates have for the switch and for the level. */
function thinkingVariables(effort: string | undefined): object {
  if (effort === undefined) return {};
  const isOn = effort !== "none";
  const level = EFFORT_LEVELS[effort];
  const thinking = { enable_thinking: isOn, thinking: isOn };
  return level === undefined ? thinking : { ...thinking, reasoning_effort: level };
}

/** The last nine letters and digits: ids differ at their ends. */
function shortCallId(id: string): string {
  return id
    .replace(/[^A-Za-z0-9]/g, "")
    .slice(-9)
    .padStart(9, "0");
}

/** The library tells an undefined property from an absent one; templates must not. */
function definedOnly(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}

function withToolList(
  messages: readonly ChatMessage[],
  tools: readonly ChatTool[],
): readonly ChatMessage[] {
  if (tools.length === 0) return messages;
  const list = toolListText(tools);
  const [first, ...rest] = messages;
  if (first?.role !== "system" && first?.role !== "developer") {
    return [{ role: "system", content: list }, ...messages];
  }
  return [{ ...first, content: `${first.content}\n\n${list}` }, ...rest];
}
