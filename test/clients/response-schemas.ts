/**
 * What the protocol says of responses, their items and their events, as strict schemas: every key must
 * be there, and no other may.
 */
import { z } from "zod";

const status = z.enum(["in_progress", "completed", "incomplete"]);
const count = z.int().nonnegative();
const text = z.string();
const id = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_[A-Za-z0-9_-]{16,}$`));

const outputText = z.strictObject({
  type: z.literal("output_text"),
  text,
  annotations: z.array(z.never()),
  logprobs: z.array(z.unknown()),
});
const refusal = z.strictObject({ type: z.literal("refusal"), refusal: text });
const reasoningText = z.strictObject({ type: z.literal("reasoning_text"), text });
const summaryText = z.strictObject({ type: z.literal("summary_text"), text });

const anyCall = { status, call_id: id("call") };
const call = { ...anyCall, name: z.string(), namespace: z.string().optional() };
const localAction = z.looseObject({
  type: z.literal("exec"),
  command: z.array(text),
  env: z.record(z.string(), text),
});
const shellAction = z.strictObject({
  commands: z.array(text),
  timeout_ms: z.number().nullable(),
  max_output_length: z.number().nullable(),
});

export const itemSchema = z.discriminatedUnion("type", [
  z.strictObject({
    id: id("msg"),
    type: z.literal("message"),
    role: z.literal("assistant"),
    status,
    content: z.array(z.union([outputText, refusal])),
  }),
  z.strictObject({
    id: id("rs"),
    type: z.literal("reasoning"),
    status,
    summary: z.array(summaryText),
    content: z.array(reasoningText).optional(),
    encrypted_content: z.string().nullish(),
  }),
  z.strictObject({ id: id("fc"), type: z.literal("function_call"), ...call, arguments: text }),
  z.strictObject({ id: id("ctc"), type: z.literal("custom_tool_call"), ...call, input: text }),
  z.strictObject({
    id: id("tsc"),
    type: z.literal("tool_search_call"),
    ...anyCall,
    execution: z.literal("client"),
    arguments: z.looseObject({}),
  }),
  z.strictObject({
    id: id("lsh"),
    type: z.literal("local_shell_call"),
    ...anyCall,
    action: localAction,
  }),
  z.strictObject({ id: id("sh"), type: z.literal("shell_call"), ...anyCall, action: shellAction }),
  z.strictObject({
    id: id("apc"),
    type: z.literal("apply_patch_call"),
    ...anyCall,
    operation: z.looseObject({}),
  }),
]);
export type Item = z.infer<typeof itemSchema>;

const usageSchema = z
  .strictObject({
    input_tokens: count,
    input_tokens_details: z.strictObject({
      cached_tokens: count,
      cache_write_tokens: count,
      miss_reason: z.string().optional(),
    }),
    output_tokens: count,
    output_tokens_details: z.strictObject({ reasoning_tokens: count }),
    total_tokens: count,
  })
  .refine((usage) => usage.total_tokens === usage.input_tokens + usage.output_tokens)
  .refine((usage) => usage.input_tokens_details.cached_tokens <= usage.input_tokens);

const functionTool = z.looseObject({
  type: z.literal("function"),
  name: z.string(),
  description: z.string().nullable(),
  parameters: z.looseObject({}).nullable(),
  strict: z.boolean().nullable(),
});
const otherTool = z.looseObject({ type: z.string().regex(/^(?!function$)/) });

const textFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    name: z.string(),
    description: z.string().nullable(),
    schema: z.looseObject({}),
    strict: z.boolean().nullable(),
  }),
]);

export const responseSchema = z.strictObject({
  id: id("resp"),
  object: z.literal("response"),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.enum(["queued", "in_progress", "completed", "failed", "incomplete", "cancelled"]),
  background: z.boolean(),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  frequency_penalty: z.number(),
  incomplete_details: z.strictObject({ reason: z.string() }).nullable(),
  instructions: z.string().nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  metadata: z.record(z.string(), z.string()),
  model: z.string(),
  output: z.array(itemSchema),
  parallel_tool_calls: z.boolean(),
  presence_penalty: z.number(),
  previous_response_id: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
  prompt_cache_retention: z.string().nullable(),
  reasoning: z.looseObject({ effort: z.string().nullable(), summary: z.string().nullable() }),
  safety_identifier: z.string().nullable(),
  service_tier: z.literal("default"),
  store: z.boolean(),
  temperature: z.number(),
  text: z.strictObject({ format: textFormat, verbosity: z.enum(["low", "medium", "high"]) }),
  tool_choice: z.union([
    z.enum(["auto", "none", "required"]),
    z.looseObject({ type: z.string(), name: z.string().optional() }),
  ]),
  tools: z.array(z.union([functionTool, otherTool])),
  top_logprobs: count,
  top_p: z.number(),
  truncation: z.enum(["auto", "disabled"]),
  usage: usageSchema.nullable(),
  user: z.string().nullable(),
});
export type Response = z.infer<typeof responseSchema>;

const place = { item_id: z.string(), output_index: count };
const contentPlace = { ...place, content_index: count };
const summaryPlace = { ...place, summary_index: count };
const logprobs = z.array(z.unknown());

const fieldsByType = {
  "response.created": { response: responseSchema },
  "response.queued": { response: responseSchema },
  "response.in_progress": { response: responseSchema },
  "response.completed": { response: responseSchema },
  "response.incomplete": { response: responseSchema },
  "response.failed": { response: responseSchema },
  "response.output_item.added": { output_index: count, item: itemSchema },
  "response.output_item.done": { output_index: count, item: itemSchema },
  "response.content_part.added": {
    ...contentPlace,
    part: z.union([outputText, refusal, reasoningText]),
  },
  "response.content_part.done": {
    ...contentPlace,
    part: z.union([outputText, refusal, reasoningText]),
  },
  "response.output_text.delta": { ...contentPlace, delta: text, logprobs },
  "response.output_text.done": { ...contentPlace, text, logprobs },
  "response.refusal.delta": { ...contentPlace, delta: text },
  "response.refusal.done": { ...contentPlace, refusal: text },
  "response.function_call_arguments.delta": { ...place, delta: text },
  "response.function_call_arguments.done": { ...place, name: z.string(), arguments: text },
  "response.custom_tool_call_input.delta": { ...place, delta: text },
  "response.custom_tool_call_input.done": { ...place, input: text },
  "response.reasoning_summary_part.added": { ...summaryPlace, part: summaryText },
  "response.reasoning_summary_part.done": { ...summaryPlace, part: summaryText },
  "response.reasoning_summary_text.delta": { ...summaryPlace, delta: text },
  "response.reasoning_summary_text.done": { ...summaryPlace, text },
  "response.reasoning_text.delta": { ...contentPlace, delta: text },
  "response.reasoning_text.done": { ...contentPlace, text },
  keepalive: {},
} as const;

/** An event of any type; what it may have follows from its type. */
export interface StreamEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [field: string]: unknown;
}

/** @throws {z.ZodError} also for a type that no client knows */
export function parseEvent(value: unknown): StreamEvent {
  const { type } = z.looseObject({ type: z.string() }).parse(value);
  const known = z.enum(Object.keys(fieldsByType)).parse(type) as keyof typeof fieldsByType;
  const common = {
    type: z.literal(known),
    sequence_number: count,
    stream_id: z.string().optional(),
  };
  return z.strictObject({ ...common, ...fieldsByType[known] }).parse(value) as StreamEvent;
}

export const errorBodySchema = z.strictObject({
  error: z.strictObject({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
  }),
});

export const errorFrameSchema = z.strictObject({
  type: z.literal("error"),
  status: z.int(),
  stream_id: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  error: errorBodySchema.shape.error,
});
