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
  /** Everything but the prompt, the same for each of them; without input. Its seed is not looked at. */
  readonly request: ResponsesRequest;
  /** One for each choice of a prompt; undefined: any. */
  readonly seeds: readonly (number | undefined)[];
  /** The text of a choice begins with its prompt. */
  readonly echo: boolean;
  /** A last chunk with the usage, `stream_options.include_usage`. */
  readonly includeUsage: boolean;
}

/** Of the tokens of a text, in order. */
export interface CompletionLogprobs {
  readonly tokens: readonly string[];
  /** null: the first token of a prompt. */
  readonly token_logprobs: readonly (number | null)[];
  /** The most likely tokens in each place and the one that stands there. */
  readonly top_logprobs: readonly (Readonly<Record<string, number>> | null)[];
  /** Code points in front of each token. */
  readonly text_offset: readonly number[];
}

export type CompletionFinishReason = "stop" | "length" | "content_filter";

/** One whole answer, or one chunk of a stream. */
export interface Completion {
  readonly id: string;
  readonly object: "text_completion";
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    /** The first prompt's choices, then the second one's, ... */
    readonly index: number;
    readonly text: string;
    readonly logprobs: CompletionLogprobs | null;
    /** null in every chunk of a choice but its last. */
    readonly finish_reason: CompletionFinishReason | null;
  }[];
  /** Of all prompts together. On streams as in Chat Completions: only when asked for. */
  readonly usage?: ChatUsage | null;
  readonly system_fingerprint: string;
}
