/**
 * Body of `POST /v1/responses` and of a `response.create` frame: unknown JSON -> `ResponsesRequest`.
 * Unknown top-level fields are ignored; a known field that asks for something this server cannot do
 * is 400 `unsupported_parameter`. Pure, but for the ids that items of a stored response get.
 */
import { invalidRequest } from "./api-error.ts";
import { FieldReader, quote } from "./field-reader.ts";
import { ENCRYPTED_REASONING, INCLUDE_VALUES, LOGPROBS } from "./include-values.ts";
import { endsWithTrigger, parseCompactThreshold } from "./parse-compaction.ts";
import { parseTextFormat } from "./parse-format.ts";
import { parseInput } from "./parse-items.ts";
import { parseSampling } from "./parse-sampling.ts";
import { parseToolChoice } from "./parse-tool-choice.ts";
import { parseTools } from "./parse-tools.ts";
import {
  MAX_METADATA_KEY_CHARS,
  MAX_METADATA_PAIRS,
  MAX_METADATA_VALUE_CHARS,
  MAX_TOP_LOGPROBS,
  checkTextSize,
} from "./request-limits.ts";
import type { RepeatedFields } from "./repeated-fields.ts";
import {
  REASONING_EFFORTS,
  type ReasoningEffort,
  type ResponsesRequest,
} from "./responses-types.ts";
import { NO_SENT_ITEMS, sentItems, withItemIds } from "./sent-items.ts";

/** Fields that exist on one transport only: `stream` on HTTP, `generate` on WebSocket. */
export type RequestTransport = "http" | "ws";

/**
 * @param repeated what came before on the same way
 * @throws {ApiError} 400 with the field's path
 */
export function parseResponsesRequest(
  value: unknown,
  transport: RequestTransport,
  repeated?: RepeatedFields,
): ResponsesRequest {
  const body = new FieldReader(value, "");
  refuseUnsupported(body);
  const instructions = body.string("instructions") ?? null;
  const previousResponseId = body.string("previous_response_id") ?? null;
  const generate = parseGenerate(body, transport);
  const tools = parseTools(body, repeated);
  const include = parseInclude(body);
  const store = body.boolean("store") ?? true;
  const mayBeEmpty = previousResponseId !== null || instructions !== null || !generate;
  return {
    model: body.requiredString("model"),
    ...parseRequestInput(body, store, mayBeEmpty),
    instructions,
    previousResponseId,
    ...tools,
    toolChoice: parseToolChoice(body),
    parallelToolCalls: body.boolean("parallel_tool_calls") ?? true,
    textFormat: parseTextFormat(body),
    reasoningEffort: parseReasoning(body),
    includesEncryptedReasoning: include.has(ENCRYPTED_REASONING),
    topLogprobs: parseTopLogprobs(body, include.has(LOGPROBS)),
    maxOutputTokens:
      body.integer("max_output_tokens", { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? null,
    ...parseSampling(body),
    store,
    compacts: endsWithTrigger(body.value("input")),
    compactThreshold: parseCompactThreshold(body),
    truncation: body.oneOf("truncation", ["auto", "disabled"]) ?? "disabled",
    background: parseBackground(body, store, transport),
    stream: (body.boolean("stream") ?? false) || transport === "ws",
    generate,
    metadata: parseMetadata(body),
    echo: parseEcho(body),
  };
}

function parseRequestInput(
  body: FieldReader,
  store: boolean,
  mayBeEmpty: boolean,
): Pick<ResponsesRequest, "input" | "inputItems"> {
  const value = body.value("input");
  const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
  if (isEmpty && !mayBeEmpty) return body.missing("input");
  if (!store) return { input: parseInput(value), inputItems: NO_SENT_ITEMS };
  if (typeof value === "string") checkTextSize(value, "input");
  const sent = withItemIds(value);
  return { input: parseInput(sent), inputItems: sentItems(sent) };
}

function parseGenerate(body: FieldReader, transport: RequestTransport): boolean {
  const prewarm = body.object("prompt_cache_options")?.boolean("prewarm") ?? false;
  const generate = transport === "ws" ? (body.boolean("generate") ?? true) : true;
  return generate && !prewarm;
}

/** It is asked for later by its id, so it has to be stored; on a socket there is nobody to leave. */
function parseBackground(body: FieldReader, store: boolean, transport: RequestTransport): boolean {
  if (body.boolean("background") !== true) return false;
  if (transport === "ws") throw body.unsupported("background", "send it over HTTP");
  if (!store) throw body.invalid("background", "needs store: true");
  return true;
}

/** Fields of the protocol that change the answer and are not built. */
function refuseUnsupported(body: FieldReader): void {
  if (body.has("conversation")) {
    throw body.unsupported("conversation", "use previous_response_id");
  }
  if (body.has("prompt")) throw body.unsupported("prompt", "prompt templates are not stored here");
  if (body.has("moderation")) throw body.unsupported("moderation", "no safety model is configured");
}

const SUMMARIES = ["auto", "concise", "detailed"] as const;
const TIERS = ["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"] as const;

/** Fields that are only checked and sent back as they came. */
const ECHOED = [
  "max_tool_calls",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "reasoning",
  "safety_identifier",
  "text",
  "tool_choice",
  "top_logprobs",
  "user",
] as const;

function parseEcho(body: FieldReader): Readonly<Record<string, unknown>> {
  body.integer("max_tool_calls", { min: 0, max: Number.MAX_SAFE_INTEGER });
  body.string("prompt_cache_key");
  body.string("safety_identifier");
  body.string("user");
  body.oneOf("prompt_cache_retention", ["in_memory", "24h"]);
  body.oneOf("service_tier", TIERS);
  body.object("stream_options")?.boolean("include_obfuscation");
  return Object.fromEntries(
    ECHOED.filter((name) => body.has(name)).map((name) => [name, body.value(name)]),
  );
}

function parseInclude(body: FieldReader): ReadonlySet<unknown> {
  const values = body.array("include") ?? [];
  values.forEach((value, index) => {
    if (INCLUDE_VALUES.has(value)) return;
    const shown = typeof value === "string" ? quote(value) : typeof value;
    throw body.invalid(`include[${index}]`, `has no known value: ${shown}`);
  });
  return new Set(values);
}

/** Without the include `top_logprobs` is only echoed. */
function parseTopLogprobs(body: FieldReader, isIncluded: boolean): number | undefined {
  const numTop = body.integer("top_logprobs", { min: 0, max: MAX_TOP_LOGPROBS }) ?? 0;
  return isIncluded ? numTop : undefined;
}

function parseReasoning(body: FieldReader): ReasoningEffort | undefined {
  const reasoning = body.object("reasoning");
  reasoning?.oneOf("summary", SUMMARIES);
  reasoning?.oneOf("generate_summary", SUMMARIES);
  reasoning?.oneOf("context", ["auto", "current_turn", "all_turns"]);
  return reasoning?.oneOf("effort", REASONING_EFFORTS);
}

function parseMetadata(body: FieldReader): Readonly<Record<string, string>> {
  if (body.object("metadata") === undefined) return {};
  const pairs = Object.entries(body.value("metadata") as object);
  if (pairs.length > MAX_METADATA_PAIRS) {
    throw body.invalid("metadata", `has ${pairs.length} pairs, at most ${MAX_METADATA_PAIRS}`);
  }
  return Object.fromEntries(pairs.map(([key, value]) => [key, checkMetadataPair(key, value)]));
}

function checkMetadataPair(key: string, value: unknown): string {
  if (key.length > MAX_METADATA_KEY_CHARS) {
    const message = `metadata keys have at most ${MAX_METADATA_KEY_CHARS} characters`;
    throw invalidRequest("invalid_value", message, "metadata");
  }
  const path = `metadata.${key}`;
  if (typeof value !== "string") {
    throw invalidRequest("invalid_type", `${path} must be a string, got ${typeof value}`, path);
  }
  if (value.length <= MAX_METADATA_VALUE_CHARS) return value;
  const message = `${path} has more than ${MAX_METADATA_VALUE_CHARS} characters`;
  throw invalidRequest("invalid_value", message, path);
}
