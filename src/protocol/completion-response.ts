/** Responses output in the form of Completions: one object, or a stream of chunks. Pure. */
import { logprobsOf, SYSTEM_FINGERPRINT, textOf, usageOfChoices } from "./choice-fields.ts";
import { CompletionLogprobsEncoder } from "./completion-logprobs.ts";
import type { Completion, CompletionFinishReason, CompletionLogprobs } from "./completion-types.ts";
import type { ResponseEvent, ResponseObject } from "./responses-types.ts";

/** @param responses the choices of the first prompt, of the second one, ...; completed or incomplete */
export function toCompletion(
  id: string,
  responses: readonly ResponseObject[],
  numPerPrompt: number,
): Completion {
  return {
    id,
    object: "text_completion",
    created: responses[0]?.created_at ?? 0,
    model: responses[0]?.model ?? "",
    choices: responses.map((response, index) => ({
      index,
      text: textOf(response.output),
      logprobs: new CompletionLogprobsEncoder().encode(logprobsOf(response.output)),
      finish_reason: finishReasonOf(response),
    })),
    usage: usageOfChoices(responses, numPerPrompt),
    system_fingerprint: SYSTEM_FINGERPRINT,
  };
}

/** Chunks of one streamed answer. A failed response has none: the caller writes its error. */
export class CompletionChunkEncoder {
  readonly #id: string;
  readonly #includeUsage: boolean;
  readonly #numPerPrompt: number;
  /** One a choice. */
  readonly #logprobs: readonly CompletionLogprobsEncoder[];
  /** By choice; empty where it has not ended. */
  readonly #ended: ResponseObject[] = [];
  #numEnded = 0;
  #created = 0;
  #model = "";

  /** @param numChoices of all prompts together */
  constructor(id: string, numChoices: number, numPerPrompt: number, includeUsage: boolean) {
    this.#id = id;
    this.#logprobs = Array.from({ length: numChoices }, () => new CompletionLogprobsEncoder());
    this.#numPerPrompt = numPerPrompt;
    this.#includeUsage = includeUsage;
  }

  /** Every choice has ended: nothing follows. */
  get isComplete(): boolean {
    return this.#numEnded === this.#logprobs.length;
  }

  /** `index` is that of the choice. The first chunk of a choice is empty: headers go out with it. */
  encode(event: ResponseEvent, index: number): readonly Completion[] {
    switch (event.type) {
      case "response.created":
        this.#created ||= event.response.created_at;
        this.#model = event.response.model;
        return [this.#chunk(index, "")];
      case "response.output_text.delta":
        return [
          this.#chunk(index, event.delta, this.#logprobs[index]?.encode(event.logprobs) ?? null),
        ];
      case "response.completed":
      case "response.incomplete":
        return this.#lastChunks(index, event.response);
      default:
        return [];
    }
  }

  #lastChunks(index: number, response: ResponseObject): readonly Completion[] {
    this.#ended[index] = response;
    this.#numEnded++;
    const last = this.#chunk(index, "", null, finishReasonOf(response));
    if (!this.#includeUsage || !this.isComplete) return [last];
    const usage = usageOfChoices(this.#ended, this.#numPerPrompt);
    return [last, { ...last, choices: [], usage }];
  }

  #chunk(
    index: number,
    text: string,
    logprobs: CompletionLogprobs | null = null,
    finishReason: CompletionFinishReason | null = null,
  ): Completion {
    return {
      id: this.#id,
      object: "text_completion",
      created: this.#created,
      model: this.#model,
      choices: [{ index, text, logprobs, finish_reason: finishReason }],
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
