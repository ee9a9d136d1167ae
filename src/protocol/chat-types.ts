/** Wire types of Chat Completions answers. Field names are the wire's own. */
import type { TokenLogprob } from "./responses-types.ts";

export type ChatFinishReason = "stop" | "length" | "tool_calls" | "content_filter";

export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

export type ChatCompletionToolCall =
  | {
      readonly id: string;
      readonly type: "function";
      readonly function: { readonly name: string; readonly arguments: string };
    }
  | {
      readonly id: string;
      readonly type: "custom";
      readonly custom: { readonly name: string; readonly input: string };
    };

export interface ChatLogprobs {
  readonly content: readonly TokenLogprob[];
  readonly refusal: null;
}

export interface ChatCompletion {
  readonly id: string;
  readonly object: "chat.completion";
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly message: {
      readonly role: "assistant";
      readonly content: string | null;
      /** Thinking of open models: a common extension. */
      readonly reasoning_content?: string;
      readonly refusal: null;
      readonly tool_calls?: readonly ChatCompletionToolCall[];
    };
    readonly logprobs: ChatLogprobs | null;
    readonly finish_reason: ChatFinishReason;
  }[];
  readonly usage: ChatUsage | null;
  readonly system_fingerprint: string;
}

/** The first of a call has id, type and name and no arguments; the next ones have those. */
export interface ChatToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: "function" | "custom";
  readonly function?: { readonly name?: string; readonly arguments: string };
  readonly custom?: { readonly name?: string; readonly input: string };
}

export interface ChatDelta {
  readonly role?: "assistant";
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly ChatToolCallDelta[];
}

export interface ChatChunk {
  readonly id: string;
  readonly object: "chat.completion.chunk";
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: ChatDelta;
    readonly logprobs: ChatLogprobs | null;
    readonly finish_reason: ChatFinishReason | null;
  }[];
  /** Present on every chunk when the client asked for usage, set on the last one. */
  readonly usage?: ChatUsage | null;
  readonly system_fingerprint: string;
}
