/**
 * Wire types of the Responses API: items, request, response object, streaming events. Field names
 * are the wire's own. A parsed request has every default filled in; unknown fields are gone.
 */
import type { JsonObject } from "../base/json-object.ts";
import type { SentItems } from "./sent-items.ts";

// --- items -----------------------------------------------------------------------------------

export interface TextPart {
  readonly type: "input_text" | "output_text";
  readonly text: string;
}

export type Role = "user" | "system" | "developer" | "assistant";
export type ItemStatus = "in_progress" | "completed" | "incomplete";

export interface MessageItem {
  readonly type: "message";
  readonly id?: string;
  readonly role: Role;
  readonly content: readonly TextPart[];
  readonly phase?: string;
  /** It stands for the conversation before it. */
  readonly isSummary?: true;
}

export interface FunctionCallItem {
  readonly type: "function_call";
  readonly id?: string;
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly arguments: string;
}

export interface FunctionCallOutputItem {
  readonly type: "function_call_output";
  readonly id?: string;
  readonly call_id: string;
  /** Parts are joined; images become a short placeholder on a text-only model. */
  readonly output: string;
}

export interface ReasoningItem {
  readonly type: "reasoning";
  readonly id?: string;
  /** As the model wrote it, or what is known of that. */
  readonly text: string;
}

/** Tools that can be called from here on. */
export interface ToolDefinitionsItem {
  readonly type: "additional_tools" | "tool_search_output";
  readonly id?: string;
  /** The search that found them, where the model made one. */
  readonly call_id?: string;
  readonly tools: readonly CallableTool[];
}

/** Settings from here on. */
export interface ConfigurationItem {
  readonly type: "configuration_update";
  readonly id?: string;
  readonly reasoningEffort?: ReasoningEffort;
  readonly textFormat?: TextFormat;
}

/** Reasoning that a server sealed; this one may be able to open it. */
export interface SealedReasoningItem {
  readonly type: "sealed_reasoning";
  readonly id?: string;
  readonly sealed: string;
  /** What is left of it if it cannot be opened. */
  readonly summary: string;
}

/** An item of which nothing is rendered: a call that another server ran, say. */
export interface IgnoredItem {
  readonly type: "ignored";
  readonly id?: string;
}

/** Stands for an item of an earlier response. */
export interface ItemReference {
  readonly type: "item_reference";
  readonly id: string;
  /** Where it is in the request. */
  readonly path: string;
}

export type ContextItem =
  | MessageItem
  | FunctionCallItem
  | FunctionCallOutputItem
  | ReasoningItem
  | ToolDefinitionsItem
  | ConfigurationItem;

/** Input items after parsing, one for each that was sent. */
export type InputItem = ResolvedItem | ItemReference;

/** One that is no reference to another. */
export type ResolvedItem = ContextItem | SealedReasoningItem | IgnoredItem;

// --- request ---------------------------------------------------------------------------------

interface ToolName {
  /** What the model calls it by: `<namespace>__<name>` for the member of a namespace. */
  readonly name: string;
  /** How the client knows the member of a namespace. */
  readonly member?: { readonly namespace: string; readonly name: string };
  /** Not shown while the model can search for it. */
  readonly isDeferred?: true;
}

/** A tool that takes JSON arguments; one that the API knows by its type has the type as its name. */
export interface FunctionTool extends ToolName {
  readonly type: "function" | "tool_search" | "local_shell" | "shell" | "apply_patch";
  readonly description: string | null;
  readonly parameters: unknown;
  readonly strict: boolean | null;
  /** Where its fields are in the request. */
  readonly path: string;
}

/** A tool that takes free text instead of JSON arguments. */
export interface CustomTool extends ToolName {
  readonly type: "custom";
  readonly description: string | null;
  readonly format:
    | { readonly type: "text" }
    | {
        readonly type: "grammar";
        readonly syntax: "lark" | "regex";
        readonly definition: string;
      };
  /** Where its fields are in the request. */
  readonly path: string;
}

/** Tools that the model can call here; their names differ. */
export type CallableTool = FunctionTool | CustomTool;

export type NamedTool = Pick<CallableTool, "type" | "name">;

export interface ToolChoice {
  readonly mode: "auto" | "none" | "required";
  /** undefined: every tool. */
  readonly named?: readonly NamedTool[];
}

/** The form of the answer's text. `path`: where the request has the schema. */
export type TextFormat =
  | { readonly type: "text" | "json_object" }
  | {
      readonly type: "json_schema";
      readonly name: string;
      readonly schema: unknown;
      readonly path: string;
    };

export const REASONING_EFFORTS = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

export interface ResponsesRequest {
  readonly model: string;
  readonly input: readonly InputItem[];
  /** The input as sent; empty where nothing is stored. */
  readonly inputItems: SentItems;
  readonly instructions: string | null;
  readonly previousResponseId: string | null;
  /** Tools that the model can call, in order; `parseTools` has those of the request alone. */
  readonly callableTools: readonly CallableTool[];
  /** The `tools` array as sent, for the echo. */
  readonly tools: readonly unknown[];
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  readonly textFormat: TextFormat;
  /** undefined: as the model's template has it. */
  readonly reasoningEffort: ReasoningEffort | undefined;
  /** Reasoning items carry a copy of their text for clients that send only opaque ones back. */
  readonly includesEncryptedReasoning: boolean;
  readonly maxOutputTokens: number | null;
  /** undefined: the model's default. */
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  readonly minP: number | undefined;
  readonly repeatPenalty: number | undefined;
  readonly frequencyPenalty: number | undefined;
  readonly presencePenalty: number | undefined;
  readonly seed: number | undefined;
  readonly stop: readonly string[];
  /** Token id -> what is added to its logit. */
  readonly logitBias: ReadonlyMap<number, number>;
  /** How many of the most likely tokens come with each log probability; undefined: none of both. */
  readonly topLogprobs: number | undefined;
  readonly store: boolean;
  /** The context is compacted and not answered. */
  readonly compacts: boolean;
  /** Tokens from which the context is compacted before it is answered. */
  readonly compactThreshold: number | undefined;
  /** auto: the oldest items go when the context is full. */
  readonly truncation: "auto" | "disabled";
  /** It runs on without its client. */
  readonly background: boolean;
  readonly stream: boolean;
  /** false: warmup, nothing is generated. */
  readonly generate: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  /** Fields that are only echoed: reasoning, text, user, prompt_cache_key, ... as sent. */
  readonly echo: Readonly<Record<string, unknown>>;
}

// --- response --------------------------------------------------------------------------------

export interface RankedToken {
  readonly token: string;
  readonly bytes: readonly number[];
  /** null: the first token of a completion that echoes its prompt. */
  readonly logprob: number | null;
}

/** Of a token of the text; the bytes are those that the text has of it. */
export interface TokenLogprob extends RankedToken {
  readonly top_logprobs: readonly RankedToken[];
}

export interface OutputMessage {
  readonly id: string;
  readonly type: "message";
  readonly role: "assistant";
  readonly status: ItemStatus;
  readonly content: readonly {
    readonly type: "output_text";
    readonly text: string;
    readonly annotations: readonly never[];
    readonly logprobs: readonly TokenLogprob[];
  }[];
}

/** Thinking, as raw `content` or as a `summary`; a model without it has no such item. */
export interface OutputReasoning {
  readonly id: string;
  readonly type: "reasoning";
  readonly status: ItemStatus;
  readonly summary: readonly { readonly type: "summary_text"; readonly text: string }[];
  readonly content?: readonly { readonly type: "reasoning_text"; readonly text: string }[];
  /** Only where the request asked for it, once the item is done. */
  readonly encrypted_content?: string;
}

export interface OutputFunctionCall {
  readonly id: string;
  readonly type: "function_call";
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly arguments: string;
}

export interface OutputCustomCall {
  readonly id: string;
  readonly type: "custom_tool_call";
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly input: string;
}

/** Calls of tools that the API knows by their type. */
export type OutputBuiltInCall = {
  readonly id: string;
  readonly status: ItemStatus;
  readonly call_id: string;
} & (
  | {
      readonly type: "tool_search_call";
      readonly execution: "client";
      readonly arguments: JsonObject;
    }
  | { readonly type: "local_shell_call" | "shell_call"; readonly action: JsonObject }
  | { readonly type: "apply_patch_call"; readonly operation: JsonObject }
);

export type OutputItem =
  | OutputMessage
  | OutputReasoning
  | OutputFunctionCall
  | OutputCustomCall
  | OutputBuiltInCall
  | OutputCompaction;

/** An earlier part of the conversation, as an opaque text. */
export interface OutputCompaction {
  readonly id: string;
  readonly type: "compaction";
  readonly encrypted_content: string;
}

export interface Usage {
  readonly input_tokens: number;
  readonly input_tokens_details: {
    readonly cached_tokens: number;
    readonly cache_write_tokens: number;
    readonly miss_reason?: MissReason;
  };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

/** Why less than the whole earlier prompt was reused; absent on a full hit. */
export type MissReason =
  | "model"
  | "adapter"
  | "tenant"
  | "template"
  | "tools"
  | "instructions"
  | "history_rewrite"
  | "diverged"
  | "not_committed"
  | "released"
  | "evicted"
  | "capacity"
  | "cold";

export type ResponseStatus =
  | "queued"
  | "in_progress"
  | "completed"
  | "failed"
  | "incomplete"
  | "cancelled";

/** All keys are always present on the wire. */
export interface ResponseObject {
  readonly id: string;
  readonly object: "response";
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly status: ResponseStatus;
  readonly background: boolean;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly frequency_penalty: number;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly instructions: string | null;
  readonly max_output_tokens: number | null;
  readonly max_tool_calls: number | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly model: string;
  readonly output: readonly OutputItem[];
  readonly parallel_tool_calls: boolean;
  readonly presence_penalty: number;
  readonly previous_response_id: string | null;
  readonly prompt_cache_key: string | null;
  readonly prompt_cache_retention: string | null;
  readonly reasoning: unknown;
  readonly safety_identifier: string | null;
  readonly service_tier: string;
  readonly store: boolean;
  readonly temperature: number;
  readonly text: unknown;
  readonly tool_choice: unknown;
  readonly tools: readonly unknown[];
  readonly top_logprobs: number;
  readonly top_p: number;
  readonly truncation: string;
  readonly usage: Usage | null;
  readonly user: string | null;
}

// --- streaming events ------------------------------------------------------------------------

type OutputPart = OutputMessage["content"][number] | ReasoningPart;
type ReasoningPart = NonNullable<OutputReasoning["content"]>[number];
type SummaryPart = OutputReasoning["summary"][number];

/** Events without `sequence_number`; the emitter adds it (0, +1 an event, no gaps). */
export type ResponseEventBody =
  | {
      readonly type:
        | "response.created"
        | "response.queued"
        | "response.in_progress"
        | "response.completed"
        | "response.incomplete"
        | "response.failed";
      readonly response: ResponseObject;
    }
  | {
      readonly type: "response.output_item.added" | "response.output_item.done";
      readonly output_index: number;
      readonly item: OutputItem;
    }
  | {
      readonly type: "response.content_part.added" | "response.content_part.done";
      readonly item_id: string;
      readonly output_index: number;
      readonly content_index: number;
      readonly part: OutputPart;
    }
  | {
      readonly type: "response.output_text.delta";
      readonly item_id: string;
      readonly output_index: number;
      readonly content_index: number;
      readonly delta: string;
      readonly logprobs: readonly TokenLogprob[];
    }
  | {
      readonly type: "response.output_text.done";
      readonly item_id: string;
      readonly output_index: number;
      readonly content_index: number;
      readonly text: string;
      readonly logprobs: readonly TokenLogprob[];
    }
  | {
      readonly type: "response.reasoning_text.delta";
      readonly item_id: string;
      readonly output_index: number;
      readonly content_index: number;
      readonly delta: string;
    }
  | {
      readonly type: "response.reasoning_text.done";
      readonly item_id: string;
      readonly output_index: number;
      readonly content_index: number;
      readonly text: string;
    }
  | {
      readonly type:
        | "response.reasoning_summary_part.added"
        | "response.reasoning_summary_part.done";
      readonly item_id: string;
      readonly output_index: number;
      readonly summary_index: number;
      readonly part: SummaryPart;
    }
  | {
      readonly type: "response.reasoning_summary_text.delta";
      readonly item_id: string;
      readonly output_index: number;
      readonly summary_index: number;
      readonly delta: string;
    }
  | {
      readonly type: "response.reasoning_summary_text.done";
      readonly item_id: string;
      readonly output_index: number;
      readonly summary_index: number;
      readonly text: string;
    }
  | {
      readonly type: "response.function_call_arguments.delta";
      readonly item_id: string;
      readonly output_index: number;
      readonly delta: string;
    }
  | {
      readonly type: "response.function_call_arguments.done";
      readonly item_id: string;
      readonly output_index: number;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly type: "response.custom_tool_call_input.delta";
      readonly item_id: string;
      readonly output_index: number;
      readonly delta: string;
    }
  | {
      readonly type: "response.custom_tool_call_input.done";
      readonly item_id: string;
      readonly output_index: number;
      readonly input: string;
    }
  | {
      readonly type: "response.compaction.compacting";
      readonly item_id: string;
      readonly output_index: number;
    }
  | { readonly type: "keepalive" };

export type ResponseEvent = ResponseEventBody & { readonly sequence_number: number };
