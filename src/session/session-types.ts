/**
 * The session as the gateway sees it. One `SessionService` serves all connections; a
 * `ConnectionState` holds the lanes of one WebSocket (or of nothing, for HTTP).
 */
import type { CompletionPrompt } from "../protocol/completion-types.ts";
import type {
  ResponseEvent,
  ResponseObject,
  ResponsesRequest,
} from "../protocol/responses-types.ts";

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
  /** Hears how many prompt tokens the engine has to compute, once it takes the turn. */
  readonly onPrefill?: (uncachedTokens: number) => void;
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

export interface SessionService {
  readonly modelId: string;
  /** Tokens a prompt and its output may have together. */
  readonly contextTokens: number;
  openConnection(tenant: string): ConnectionState;
  /**
   * Runs one response. Every event reaches `emit` in wire order, with sequence numbers, keepalives
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
