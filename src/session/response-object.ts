/** The response object of the wire, with every key present in every state. */
import { isJsonObject, type JsonObject } from "../base/json-object.ts";
import type {
  MissReason,
  OutputItem,
  ResponseObject,
  ResponseStatus,
  ResponsesRequest,
  Usage,
} from "../protocol/responses-types.ts";

/**
 * Who gets `instructions` and `tools` back: they can be 70 KB, three times a turn. `http`: clients of
 * HTTP and SSE, not of WebSocket.
 */
export type Echo = "http" | "all" | "none";

export interface ResponseIdentity {
  readonly id: string;
  readonly createdAt: number;
  readonly model: string;
  /** `instructions` and `tools` come back as they were sent. */
  readonly isEchoing: boolean;
  readonly request: ResponsesRequest;
}

export interface ResponseProgress {
  readonly status: ResponseStatus;
  readonly output?: readonly OutputItem[];
  readonly completedAt?: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly incompleteReason?: string;
  readonly usage?: Usage;
}

export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly missReason: MissReason | undefined;
}

export function usageOf(tokens: TokenUsage): Usage {
  return {
    input_tokens: tokens.inputTokens,
    input_tokens_details: {
      cached_tokens: tokens.cachedTokens,
      cache_write_tokens: 0,
      ...(tokens.missReason && { miss_reason: tokens.missReason }),
    },
    output_tokens: tokens.outputTokens,
    output_tokens_details: { reasoning_tokens: tokens.reasoningTokens },
    total_tokens: tokens.inputTokens + tokens.outputTokens,
  };
}

/** Of two runs for one response. Why less was reused is the last one's to say. */
export function sumOfUsage(earlier: Usage | undefined, last: Usage): Usage {
  if (!earlier) return last;
  const { input_tokens_details: input, output_tokens_details: output } = earlier;
  const lastInput = last.input_tokens_details;
  const lastOutput = last.output_tokens_details;
  return {
    input_tokens: earlier.input_tokens + last.input_tokens,
    input_tokens_details: {
      ...lastInput,
      cached_tokens: input.cached_tokens + lastInput.cached_tokens,
    },
    output_tokens: earlier.output_tokens + last.output_tokens,
    output_tokens_details: {
      reasoning_tokens: output.reasoning_tokens + lastOutput.reasoning_tokens,
    },
    total_tokens: earlier.total_tokens + last.total_tokens,
  };
}

export function responseObject(
  identity: ResponseIdentity,
  progress: ResponseProgress,
): ResponseObject {
  const { request, isEchoing } = identity;
  const { echo } = request;
  return {
    id: identity.id,
    object: "response",
    created_at: identity.createdAt,
    completed_at: progress.completedAt ?? null,
    status: progress.status,
    background: request.background,
    error: progress.error ?? null,
    frequency_penalty: request.frequencyPenalty ?? 0,
    incomplete_details: progress.incompleteReason ? { reason: progress.incompleteReason } : null,
    instructions: isEchoing ? request.instructions : null,
    max_output_tokens: request.maxOutputTokens,
    max_tool_calls: numberOrNull(echo.max_tool_calls),
    metadata: request.metadata,
    model: identity.model,
    output: progress.output ?? [],
    parallel_tool_calls: request.parallelToolCalls,
    presence_penalty: request.presencePenalty ?? 0,
    previous_response_id: request.previousResponseId,
    prompt_cache_key: stringOrNull(echo.prompt_cache_key),
    prompt_cache_retention: stringOrNull(echo.prompt_cache_retention),
    reasoning: { effort: null, summary: null, ...objectOf(echo.reasoning) },
    safety_identifier: stringOrNull(echo.safety_identifier),
    service_tier: "default",
    store: request.store,
    temperature: request.temperature ?? 1,
    text: echoedText(objectOf(echo.text)),
    tool_choice: echo.tool_choice ?? request.toolChoice.mode,
    tools: isEchoing ? request.tools.map(echoedTool) : [],
    top_logprobs: numberOrNull(echo.top_logprobs) ?? 0,
    top_p: request.topP ?? 1,
    truncation: request.truncation,
    usage: progress.usage ?? null,
    user: stringOrNull(echo.user),
  };
}

/** Fields that clients read of every format and function are there, also if they were not sent. */
function echoedText({ format, ...text }: JsonObject): JsonObject {
  const sent = objectOf(format);
  const isSchema = sent.type === "json_schema";
  const echoed = isSchema
    ? { description: null, strict: null, ...sent }
    : { type: "text", ...sent };
  return { verbosity: "medium", ...text, format: echoed };
}

function echoedTool(tool: unknown): unknown {
  if (!isJsonObject(tool) || tool.type !== "function") return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function stringOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
