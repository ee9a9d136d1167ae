/**
 * Body of `POST /v1/chat/completions`: unknown JSON -> the Responses request that means the same.
 * Fields that change the answer and are not built are 400 `unsupported_parameter`; fields that
 * cannot change it are ignored. Pure.
 */
import { FieldReader } from "./field-reader.ts";
import { parseChatMessages } from "./parse-chat-messages.ts";
import { parseSeeds } from "./parse-choices.ts";
import { parseResponseFormat } from "./parse-format.ts";
import { parseSampling } from "./parse-sampling.ts";
import { parseToolChoice } from "./parse-tool-choice.ts";
import {
  checkNewName,
  parseCustom,
  type ParsedTools,
  parseFunction,
  repeatedTools,
} from "./parse-tools.ts";
import type { RepeatedFields } from "./repeated-fields.ts";
import { MAX_TOP_LOGPROBS } from "./request-limits.ts";
import { type CallableTool, REASONING_EFFORTS, type ResponsesRequest } from "./responses-types.ts";
import { NO_SENT_ITEMS } from "./sent-items.ts";

export interface ChatRequest {
  /** Its seed is not looked at. */
  readonly request: ResponsesRequest;
  /** One for each choice that is wanted; undefined: any. */
  readonly seeds: readonly (number | undefined)[];
  /** A last chunk with the usage, `stream_options.include_usage`. */
  readonly includeUsage: boolean;
}

/**
 * @param repeated knows the tools that came before
 * @throws {ApiError} 400 with the field's path
 */
export function parseChatRequest(value: unknown, repeated?: RepeatedFields): ChatRequest {
  const body = new FieldReader(value, "");
  refuseUnsupported(body);
  const { callableTools } = repeatedTools(body, repeated, parseChatTools);
  const effort = body.oneOf("reasoning_effort", REASONING_EFFORTS);
  const sampling = parseSampling(body);
  return {
    request: {
      model: body.requiredString("model"),
      input: parseChatMessages(body),
      inputItems: NO_SENT_ITEMS,
      instructions: null,
      previousResponseId: null,
      callableTools,
      tools: callableTools,
      toolChoice: parseToolChoice(body),
      parallelToolCalls: body.boolean("parallel_tool_calls") ?? true,
      textFormat: parseResponseFormat(body),
      reasoningEffort: effort,
      includesEncryptedReasoning: false,
      maxOutputTokens: parseMaxTokens(body),
      ...sampling,
      topLogprobs: parseTopLogprobs(body),
      store: false,
      compacts: false,
      compactThreshold: undefined,
      truncation: "disabled",
      background: false,
      stream: body.boolean("stream") ?? false,
      generate: true,
      metadata: {},
      echo: effort === undefined ? {} : { reasoning: { effort } },
    },
    seeds: parseSeeds(body, sampling.seed),
    includeUsage: body.object("stream_options")?.boolean("include_usage") ?? false,
  };
}

function parseTopLogprobs(body: FieldReader): number | undefined {
  const isWanted = body.boolean("logprobs") ?? false;
  const numTop = body.integer("top_logprobs", { min: 0, max: MAX_TOP_LOGPROBS });
  if (isWanted) return numTop ?? 0;
  if (numTop === undefined || numTop === 0) return undefined;
  throw body.invalid("top_logprobs", "needs logprobs: true");
}

/** `max_tokens` is the older name; when both are sent the newer one counts. */
function parseMaxTokens(body: FieldReader): number | null {
  const range = { min: 1, max: Number.MAX_SAFE_INTEGER };
  const older = body.integer("max_tokens", range);
  return body.integer("max_completion_tokens", range) ?? older ?? null;
}

function parseChatTools(tools: readonly unknown[]): ParsedTools {
  const seen = new Set<string>();
  const callableTools = tools.map((value, index): CallableTool => {
    const tool = new FieldReader(value, `tools[${index}]`);
    const type = tool.oneOf("type", ["function", "custom"]) ?? tool.missing("type");
    const fields = tool.object(type) ?? tool.missing(type);
    const parsed = type === "function" ? parseFunction(fields) : parseCustom(fields);
    checkNewName(seen, parsed.name, fields.pathOf("name"));
    return parsed;
  });
  return { callableTools, tools };
}

function refuseUnsupported(body: FieldReader): void {
  if (body.boolean("continue_final_message") === true) {
    throw body.unsupported("continue_final_message", "a reply always starts a new message");
  }
  if (body.boolean("add_generation_prompt") === false) {
    throw body.unsupported("add_generation_prompt", "a reply always starts a new message");
  }
  for (const name of ["functions", "function_call"]) {
    if (body.has(name)) throw body.unsupported(name, "use tools and tool_choice");
  }
  for (const name of ["audio", "web_search_options"]) {
    if (body.has(name)) throw body.unsupported(name, "this model reads and writes text only");
  }
  refuseModalities(body);
}

function refuseModalities(body: FieldReader): void {
  if ((body.array("modalities") ?? []).some((modality) => modality !== "text")) {
    throw body.unsupported("modalities", "this model writes text only");
  }
}
