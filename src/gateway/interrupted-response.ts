/** The end of a response that a drain cut off: the session leaves what was aborted without an end. */
import type { ApiError } from "../protocol/api-error.ts";
import { overloaded } from "../protocol/engine-error-map.ts";
import type { ResponseEvent, ResponseObject } from "../protocol/responses-types.ts";

const SHUTDOWN_MESSAGE = "The server is shutting down.";

export function shuttingDown(): ApiError {
  return overloaded(SHUTDOWN_MESSAGE);
}

/**
 * The terminal event of an aborted response; undefined for any other, which has ended by itself.
 * @throws {ApiError} 503 when no event was sent yet
 */
export function interruptionEvent(
  response: ResponseObject,
  nextSequenceNumber: number,
): ResponseEvent | undefined {
  if (response.status !== "in_progress") return undefined;
  if (nextSequenceNumber === 0) throw shuttingDown();
  // A code that clients try again on; `server_is_overloaded` would end their turn.
  const error = { code: "server_error", message: SHUTDOWN_MESSAGE };
  return {
    type: "response.failed",
    sequence_number: nextSequenceNumber,
    response: { ...response, status: "failed", error },
  };
}
