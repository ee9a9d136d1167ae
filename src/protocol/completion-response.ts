/** Responses output in the form of Completions: one object, or a stream of chunks. Pure. */
import type { ChatUsage } from "./chat-types.ts";
import { SYSTEM_FINGERPRINT, textOf, toChatUsage } from "./choice-fields.ts";
import type { Completion, CompletionFinishReason } from "./completion-types.ts";
import type { ResponseEvent, ResponseObject } from "./responses-types.ts";

/** One response for each prompt, in order, completed or incomplete. */
export function toCompletion(id: string, responses: readonly ResponseObject[]): Completion {
  return {
    id,
    object: "text_completion",
    created: responses[0]?.created_at ?? 0,
    model: responses[0]?.model ?? "",
    choices: responses.map((response, index) => ({
      index,
      text: textOf(response.output),
      logprobs: null,
      finish_reason: finishReasonOf(response),
    })),
    usage: usageOfAll(responses),
    system_fingerprint: SYSTEM_FINGERPRINT,
  };
}

/** Chunks of one streamed answer. A failed response has none: the caller writes its error. */
export class CompletionChunkEncoder {
  readonly #id: string;
  readonly #includeUsage: boolean;
  readonly #numPrompts: number;
  readonly #ended: ResponseObject[] = [];
  #created = 0;
  #model = "";

  constructor(id: string, numPrompts: number, includeUsage: boolean) {
    this.#id = id;
    this.#numPrompts = numPrompts;
    this.#includeUsage = includeUsage;
  }

  /** Every choice has ended: nothing follows. */
  get isComplete(): boolean {
    return this.#ended.length === this.#numPrompts;
  }

  /** `index` is that of the prompt. The first chunk of a choice is empty: headers go out with it. */
  encode(event: ResponseEvent, index: number): readonly Completion[] {
    switch (event.type) {
      case "response.created":
        this.#created ||= event.response.created_at;
        this.#model = event.response.model;
        return [this.#chunk(index, "")];
      case "response.output_text.delta":
        return [this.#chunk(index, event.delta)];
      case "response.completed":
      case "response.incomplete":
        return this.#lastChunks(index, event.response);
      default:
        return [];
    }
  }

  #lastChunks(index: number, response: ResponseObject): readonly Completion[] {
    this.#ended.push(response);
    const last = this.#chunk(index, "", finishReasonOf(response));
    if (!this.#includeUsage || !this.isComplete) return [last];
    return [last, { ...last, choices: [], usage: usageOfAll(this.#ended) }];
  }

  #chunk(
    index: number,
    text: string,
    finishReason: CompletionFinishReason | null = null,
  ): Completion {
    return {
      id: this.#id,
      object: "text_completion",
      created: this.#created,
      model: this.#model,
      choices: [{ index, text, logprobs: null, finish_reason: finishReason }],
      ...(this.#includeUsage ? { usage: null } : {}),
      system_fingerprint: SYSTEM_FINGERPRINT,
    };
  }
}

/** A prompt that was only read (`max_tokens` 0) has reached its cap too. */
function finishReasonOf(response: ResponseObject): CompletionFinishReason {
  const reason = response.incomplete_details?.reason;
  if (reason === "content_filter") return "content_filter";
  return reason === "max_output_tokens" || response.max_output_tokens === 0 ? "length" : "stop";
}

function usageOfAll(responses: readonly ResponseObject[]): ChatUsage {
  const usages = responses.flatMap((response) => toChatUsage(response.usage) ?? []);
  const sum = (of: (usage: ChatUsage) => number): number =>
    usages.reduce((total, usage) => total + of(usage), 0);
  return {
    prompt_tokens: sum((usage) => usage.prompt_tokens),
    completion_tokens: sum((usage) => usage.completion_tokens),
    total_tokens: sum((usage) => usage.total_tokens),
    prompt_tokens_details: {
      cached_tokens: sum((usage) => usage.prompt_tokens_details.cached_tokens),
    },
    completion_tokens_details: {
      reasoning_tokens: sum((usage) => usage.completion_tokens_details.reasoning_tokens),
    },
  };
}
