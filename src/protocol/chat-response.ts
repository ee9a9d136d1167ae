/**
 * Responses output in the form of Chat Completions: one object, or a stream of chunks. A call is
 * sent when it is complete, in two chunks: its pieces could not be taken back if the token cap cut
 * it, and clients run what they were given. Pure.
 */
import type {
  ChatChunk,
  ChatCompletion,
  ChatCompletionToolCall,
  ChatDelta,
  ChatFinishReason,
  ChatLogprobs,
  ChatToolCallDelta,
} from "./chat-types.ts";
import { logprobsOf, SYSTEM_FINGERPRINT, textOf, usageOfChoices } from "./choice-fields.ts";
import { reasoningText } from "./reasoning-text.ts";
import type {
  OutputCustomCall,
  OutputFunctionCall,
  OutputItem,
  ResponseEvent,
  ResponseObject,
  TokenLogprob,
} from "./responses-types.ts";

/** @param responses one a choice, completed or incomplete */
export function toChatCompletion(
  id: string,
  responses: readonly ResponseObject[],
  hasLogprobs: boolean,
): ChatCompletion {
  return {
    id,
    object: "chat.completion",
    created: responses[0]?.created_at ?? 0,
    model: responses[0]?.model ?? "",
    choices: responses.map((response, index) => ({
      index,
      message: messageOf(response.output),
      logprobs: hasLogprobs ? toLogprobs(logprobsOf(response.output)) : null,
      finish_reason: finishReasonOf(response),
    })),
    usage: usageOfChoices(responses, responses.length),
    system_fingerprint: SYSTEM_FINGERPRINT,
  };
}

function messageOf(output: readonly OutputItem[]): ChatMessageAnswer {
  const calls = output.filter(isCall).map(toToolCall);
  const text = textOf(output);
  const reasoning = reasoningOf(output);
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function toLogprobs(content: readonly TokenLogprob[]): ChatLogprobs {
  return { content, refusal: null };
}

/** Chunks of one streamed answer. A failed response has none: the caller writes its error. */
export class ChatChunkEncoder {
  readonly #id: string;
  readonly #includeUsage: boolean;
  readonly #numChoices: number;
  /** Calls of each choice so far. */
  readonly #numCalls: number[];
  readonly #ended: ResponseObject[] = [];
  #created = 0;
  #model = "";

  constructor(id: string, numChoices: number, includeUsage: boolean) {
    this.#id = id;
    this.#numChoices = numChoices;
    this.#numCalls = new Array<number>(numChoices).fill(0);
    this.#includeUsage = includeUsage;
  }

  /** Every choice has ended: nothing follows. */
  get isComplete(): boolean {
    return this.#ended.length === this.#numChoices;
  }

  /** @param choice index of the event's response */
  encode(event: ResponseEvent, choice: number): readonly ChatChunk[] {
    switch (event.type) {
      case "response.created":
        this.#created ||= event.response.created_at;
        this.#model = event.response.model;
        return [this.#chunk(choice, { role: "assistant", content: "" })];
      case "response.output_text.delta":
        return [this.#textChunk(choice, event.delta, event.logprobs)];
      case "response.reasoning_text.delta":
      case "response.reasoning_summary_text.delta":
        return [this.#chunk(choice, { reasoning_content: event.delta })];
      case "response.output_item.done":
        return isCall(event.item) ? this.#callChunks(choice, event.item) : [];
      case "response.completed":
      case "response.incomplete":
        return this.#lastChunks(choice, event.response);
      default:
        return [];
    }
  }

  #textChunk(choice: number, content: string, logprobs: readonly TokenLogprob[]): ChatChunk {
    return this.#chunk(choice, { content }, logprobs.length > 0 ? toLogprobs(logprobs) : null);
  }

  #callChunks(choice: number, call: OutputCall): readonly ChatChunk[] {
    const index = this.#numCalls[choice] ?? 0;
    this.#numCalls[choice] = index + 1;
    const { name, call_id: id } = call;
    const deltas: readonly ChatToolCallDelta[] =
      call.type === "function_call"
        ? [
            { index, id, type: "function", function: { name, arguments: "" } },
            { index, function: { arguments: call.arguments } },
          ]
        : [
            { index, id, type: "custom", custom: { name, input: "" } },
            { index, custom: { input: call.input } },
          ];
    return deltas.map((delta) => this.#chunk(choice, { tool_calls: [delta] }));
  }

  #lastChunks(choice: number, response: ResponseObject): readonly ChatChunk[] {
    this.#ended.push(response);
    const last = this.#chunk(choice, {}, null, finishReasonOf(response));
    if (!this.#includeUsage || !this.isComplete) return [last];
    return [last, { ...last, choices: [], usage: usageOfChoices(this.#ended, this.#numChoices) }];
  }

  #chunk(
    index: number,
    delta: ChatDelta,
    logprobs: ChatLogprobs | null = null,
    finishReason: ChatFinishReason | null = null,
  ): ChatChunk {
    return {
      id: this.#id,
      object: "chat.completion.chunk",
      created: this.#created,
      model: this.#model,
      choices: [{ index, delta, logprobs, finish_reason: finishReason }],
      ...(this.#includeUsage ? { usage: null } : {}),
      system_fingerprint: SYSTEM_FINGERPRINT,
    };
  }
}

function reasoningOf(output: readonly OutputItem[]): string {
  return output.map((item) => (item.type === "reasoning" ? reasoningText(item) : "")).join("");
}

function finishReasonOf(response: ResponseObject): ChatFinishReason {
  if (response.incomplete_details?.reason === "max_output_tokens") return "length";
  if (response.incomplete_details?.reason === "content_filter") return "content_filter";
  return response.output.some(isCall) ? "tool_calls" : "stop";
}

type ChatMessageAnswer = ChatCompletion["choices"][number]["message"];
type OutputCall = OutputFunctionCall | OutputCustomCall;

function toToolCall(call: OutputCall): ChatCompletionToolCall {
  const { name, call_id: id } = call;
  return call.type === "function_call"
    ? { id, type: "function", function: { name, arguments: call.arguments } }
    : { id, type: "custom", custom: { name, input: call.input } };
}

function isCall(item: OutputItem): item is OutputCall {
  return item.type === "function_call" || item.type === "custom_tool_call";
}
