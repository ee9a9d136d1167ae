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
  ChatToolCallDelta,
} from "./chat-types.ts";
import { SYSTEM_FINGERPRINT, textOf, toChatUsage } from "./choice-fields.ts";
import { reasoningText } from "./reasoning-text.ts";
import type {
  OutputCustomCall,
  OutputFunctionCall,
  OutputItem,
  ResponseEvent,
  ResponseObject,
} from "./responses-types.ts";

/** `response` is completed or incomplete. */
export function toChatCompletion(id: string, response: ResponseObject): ChatCompletion {
  const calls = response.output.filter(isCall).map(toToolCall);
  const text = textOf(response.output);
  const reasoning = reasoningOf(response.output);
  return {
    id,
    object: "chat.completion",
    created: response.created_at,
    model: response.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text === "" && calls.length > 0 ? null : text,
          ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
          refusal: null,
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        },
        logprobs: null,
        finish_reason: finishReasonOf(response),
      },
    ],
    usage: toChatUsage(response.usage),
    system_fingerprint: SYSTEM_FINGERPRINT,
  };
}

/** Chunks of one streamed answer. A failed response has none: the caller writes its error. */
export class ChatChunkEncoder {
  readonly #id: string;
  readonly #includeUsage: boolean;
  #created = 0;
  #model = "";
  #numCalls = 0;

  constructor(id: string, includeUsage: boolean) {
    this.#id = id;
    this.#includeUsage = includeUsage;
  }

  encode(event: ResponseEvent): readonly ChatChunk[] {
    switch (event.type) {
      case "response.created":
        this.#created = event.response.created_at;
        this.#model = event.response.model;
        return [this.#chunk({ role: "assistant", content: "" })];
      case "response.output_text.delta":
        return [this.#chunk({ content: event.delta })];
      case "response.reasoning_text.delta":
      case "response.reasoning_summary_text.delta":
        return [this.#chunk({ reasoning_content: event.delta })];
      case "response.output_item.done":
        return isCall(event.item) ? this.#callChunks(event.item) : [];
      case "response.completed":
      case "response.incomplete":
        return this.#lastChunks(event.response);
      default:
        return [];
    }
  }

  #callChunks(call: OutputCall): readonly ChatChunk[] {
    const index = this.#numCalls++;
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
    return deltas.map((delta) => this.#chunk({ tool_calls: [delta] }));
  }

  #lastChunks(response: ResponseObject): readonly ChatChunk[] {
    const last = this.#chunk({}, finishReasonOf(response));
    if (!this.#includeUsage) return [last];
    return [last, { ...last, choices: [], usage: toChatUsage(response.usage) }];
  }

  #chunk(delta: ChatDelta, finishReason: ChatFinishReason | null = null): ChatChunk {
    return {
      id: this.#id,
      object: "chat.completion.chunk",
      created: this.#created,
      model: this.#model,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
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
