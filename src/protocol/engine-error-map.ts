/** The one table from native error codes to the wire. */
import { ApiError, type ApiErrorType } from "./api-error.ts";

export interface WireError {
  readonly status: number;
  readonly type: ApiErrorType;
  /** Before `response.created`: code of the HTTP error or error frame. */
  readonly code: string;
  /** After it: `error.code` of `response.failed`. */
  readonly failedCode: string;
  readonly message: string;
  /** Seconds; undefined when trying again does not help. */
  readonly retryAfterSeconds: number | undefined;
}

/** A full queue is a few requests of a second or more each; clients add their own back-off. */
const RETRY_AFTER_SECONDS = 1;

/** Codes that are not listed are the server's fault: 500. */
export function mapEngineError(
  code: string,
  message: string,
  retryAfterSeconds = RETRY_AFTER_SECONDS,
): WireError {
  switch (code) {
    case "ERR_CONTEXT_TOO_LONG":
      return {
        status: 400,
        type: "invalid_request_error",
        code: "context_length_exceeded",
        failedCode: "context_length_exceeded",
        message,
        retryAfterSeconds: undefined,
      };
    case "ERR_GRAMMAR":
      return {
        status: 400,
        type: "invalid_request_error",
        code: "invalid_grammar",
        failedCode: "invalid_prompt",
        message,
        retryAfterSeconds: undefined,
      };
    case "ERR_QUEUE_FULL":
      return {
        status: 429,
        type: "rate_limit_error",
        code: "rate_limit_exceeded",
        failedCode: "rate_limit_exceeded",
        message: withRetryHint(message, retryAfterSeconds),
        retryAfterSeconds,
      };
    case "ERR_ENGINE_CLOSED":
      return {
        status: 503,
        type: "server_error",
        code: "server_is_overloaded",
        failedCode: "server_error",
        message: "The engine is shutting down.",
        retryAfterSeconds,
      };
    default:
      return {
        status: 500,
        type: "server_error",
        code: "server_error",
        failedCode: "server_error",
        message: "The server had an error while processing the request.",
        retryAfterSeconds: undefined,
      };
  }
}

/** The same error as thrown before a response starts. */
export function engineApiError(
  code: string,
  message: string,
  retryAfterSeconds?: number,
): ApiError {
  const wire = mapEngineError(code, message, retryAfterSeconds);
  const headers =
    wire.retryAfterSeconds === undefined ? {} : { "retry-after": String(wire.retryAfterSeconds) };
  return new ApiError(wire.status, wire.type, wire.code, wire.message, null, headers);
}

/** 429 with the sentence that clients parse for their delay. */
export function rateLimited(message: string, retryAfterSeconds?: number): ApiError {
  return engineApiError("ERR_QUEUE_FULL", message, retryAfterSeconds);
}

/** 503 while the server cannot take requests: it loads its model or drains. */
export function overloaded(message: string): ApiError {
  return new ApiError(503, "server_error", "server_is_overloaded", message, null, {
    "retry-after": String(RETRY_AFTER_SECONDS),
  });
}

const FAILED_STATUS: Readonly<Record<string, readonly [number, ApiErrorType]>> = {
  context_length_exceeded: [400, "invalid_request_error"],
  invalid_prompt: [400, "invalid_request_error"],
  rate_limit_exceeded: [429, "rate_limit_error"],
};

/** A failed response as an HTTP error, for clients that saw no `response.created`. */
export function failedResponseError(code: string, message: string): ApiError {
  const [status, type] = FAILED_STATUS[code] ?? [500, "server_error"];
  const headers = status === 429 ? { "retry-after": String(RETRY_AFTER_SECONDS) } : {};
  return new ApiError(status, type, code, message, null, headers);
}

function withRetryHint(message: string, retryAfterSeconds: number): string {
  return `${message.replace(/\.$/, "")}. Please try again in ${retryAfterSeconds}s.`;
}
