/** `POST /v1/completions`: the parsed request and the wire types of its answers. */
import type { ChatUsage } from "./chat-types.ts";
import type { ResponsesRequest } from "./responses-types.ts";

/** What a completion continues. `path` is its field in the request, for errors. */
export type CompletionPrompt =
  | {
      readonly path: string;
      readonly text: string;
      /** Special-token literals in the text become control tokens. */
      readonly parseSpecial: boolean;
    }
  | { readonly path: string; readonly tokenIds: readonly number[] };

export interface CompletionRequest {
  /** Never empty. */
  readonly prompts: readonly CompletionPrompt[];
  /** Everything but the prompt, the same for each of them; without input. */
  readonly request: ResponsesRequest;
  /** The text of a choice begins with its prompt. */
  readonly echo: boolean;
  /** A last chunk with the usage, `stream_options.include_usage`. */
  readonly includeUsage: boolean;
}

export type CompletionFinishReason = "stop" | "length" | "content_filter";

/** One whole answer, or one chunk of a stream. */
export interface Completion {
  readonly id: string;
  readonly object: "text_completion";
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    /** Of the prompt. */
    readonly index: number;
    readonly text: string;
    readonly logprobs: null;
    /** null in every chunk of a choice but its last. */
    readonly finish_reason: CompletionFinishReason | null;
  }[];
  /** Of all prompts together. On streams as in Chat Completions: only when asked for. */
  readonly usage?: ChatUsage | null;
  readonly system_fingerprint: string;
}
