/**
 * The session as the gateway sees it. One `SessionService` serves all connections; a
 * `ConnectionState` holds the lanes of one WebSocket (or of nothing, for HTTP).
 */
import type { OutputFlow } from "../base/output-flow.ts";
import type { CompletionPrompt } from "../protocol/completion-types.ts";
import type {
  MessageItem,
  ResponseEvent,
  ResponseObject,
  ResponsesRequest,
} from "../protocol/responses-types.ts";
import type { SentItems } from "../protocol/sent-items.ts";

export type Transport = "http" | "sse" | "ws";

/** Per-socket memory of recent responses (the continuation cache). Made by the service. */
export interface ConnectionState {
  /** Frees everything the socket held: live sequences become ordinary cached blocks. */
  close(): void;
}

export interface TurnContext {
  readonly tenant: string;
  readonly transport: Transport;
  /** Present on WebSocket only. */
  readonly connection?: ConnectionState;
  /** WebSocket lane; undefined is the connection's default lane. */
  readonly streamId?: string;
  /** Payload bytes as received, for the counters. */
  readonly receivedBytes: number;
  /** `performance.now()` when the request arrived. */
  readonly receivedMs: number;
  /** Of the socket or stream that the events go to. */
  readonly flow?: OutputFlow;
  /** Hears how many prompt tokens the engine has to compute, once it takes the turn. */
  readonly onPrefill?: (uncachedTokens: number) => void;
  /** Ends the response as cancelled, with its terminal event; the run's own signal ends it silently. */
  readonly cancellation?: AbortSignal;
}

/** Runs one response, as `SessionService.createResponse` says. */
export type RunResponse = (
  context: TurnContext,
  emit: (event: ResponseEvent) => void,
  signal: AbortSignal,
) => Promise<ResponseObject>;

/** One prompt of a completion request. */
export interface CompletionTurn {
  readonly prompt: CompletionPrompt;
  /** Its input and its seed are not looked at. */
  readonly request: ResponsesRequest;
  /** One for each choice that is wanted; undefined: any. */
  readonly seeds: readonly (number | undefined)[];
  /** The output begins with the prompt's own text. */
  readonly echo: boolean;
}

/** Responses by their ids. @throws {ApiError} 404 response_not_found, also for another tenant's */
export interface ResponseLookup {
  /** As it stands, when it still runs. */
  get(tenant: string, responseId: string): ResponseObject;
  /** Its own input, oldest first. */
  inputItems(tenant: string, responseId: string): SentItems;
  /** One that runs is cancelled first. */
  delete(tenant: string, responseId: string): Promise<void>;
  /** @throws {ApiError} 409: it has ended in another way */
  cancel(tenant: string, responseId: string): Promise<ResponseObject>;
  /**
   * The recorded events behind that number, and those that still come.
   * @throws {ApiError} unsupported_parameter: they are not recorded
   */
  follow(tenant: string, responseId: string, startingAfter: number): AsyncIterable<ResponseEvent>;
}

export interface CompactedConversation {
  /** Its one output item is the compaction. */
  readonly response: ResponseObject;
  /** Messages of the user that stay in front of it. */
  readonly kept: readonly MessageItem[];
}

export interface SessionService {
  readonly modelId: string;
  readonly responses: ResponseLookup;
  /** Tokens a prompt and its output may have together. */
  readonly contextTokens: number;
  openConnection(tenant: string): ConnectionState;
  /**
   * Runs one response. One that is cancelled ends with a terminal event; one whose `signal` aborts says
   * nothing more, its promise resolves with status `in_progress`. Every event reaches `emit` in wire order, with sequence numbers, keepalives
   * included (12 s of silence); the promise resolves with the terminal response object.
   * A failure after `response.created` is a `response.failed` event, not a rejection; so is
   * `context_length_exceeded` on streaming transports.
   * @throws {ApiError} before `response.created`
   */
  createResponse(
    request: ResponsesRequest,
    context: TurnContext,
    emit: (event: ResponseEvent) => void,
    signal: AbortSignal,
  ): Promise<ResponseObject>;
  /**
   * Sums a conversation up, as its own answer; nothing of it is stored. Runs as `createResponse` does.
   * @throws {ApiError}
   */
  compact(
    request: ResponsesRequest,
    ...where: Parameters<RunResponse>
  ): Promise<CompactedConversation>;
  /** Tokens of the prompt that `createResponse` would run. @throws {ApiError} */
  countInputTokens(request: ResponsesRequest, context: TurnContext): Promise<number>;
  /**
   * Encodes a raw prompt and returns what continues it, one run a choice: no template, no tools, no
   * parent, and nothing can continue from the responses.
   * @throws {ApiError} for a prompt that cannot be continued
   */
  prepareCompletion(completion: CompletionTurn): Promise<readonly RunResponse[]>;
  close(): Promise<void>;
}
