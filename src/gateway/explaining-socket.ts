/**
 * A WebSocket that says why before `ws` closes it: for a message over the limit, in too many pieces, or
 * of bytes that are not UTF-8, `ws` sends its close frame at once and no listener comes before it.
 */
import { WebSocket } from "ws";
import { ApiError, invalidRequest } from "../protocol/api-error.ts";
import { errorFrame } from "./error-reply.ts";

const INVALID_DATA = 1007;
const TOO_MANY_FRAGMENTS = 1008;
const TOO_BIG = 1009;

/** The class for sockets whose messages have at most `maxPayloadBytes`. */
export function explainingSocket(maxPayloadBytes: number): typeof WebSocket {
  return class ExplainingSocket extends WebSocket {
    /** Own closes of `ws` have no reason text; those of the gateway do. */
    override close(code?: number, reason?: string | Buffer): void {
      const error = reason === undefined ? refusalOf(code, maxPayloadBytes) : undefined;
      if (error !== undefined && this.readyState === this.OPEN) {
        this.send(JSON.stringify(errorFrame(error, undefined)));
      }
      super.close(code, reason);
    }
  };
}

function refusalOf(code: number | undefined, maxPayloadBytes: number): ApiError | undefined {
  switch (code) {
    case INVALID_DATA:
      return invalidRequest("invalid_json", "the payload is not valid UTF-8");
    case TOO_MANY_FRAGMENTS:
      return tooLarge("The message comes in too many fragments.");
    case TOO_BIG:
      return tooLarge(`The message is larger than the limit of ${maxPayloadBytes} bytes.`);
    default:
      return undefined;
  }
}

function tooLarge(message: string): ApiError {
  return new ApiError(413, "invalid_request_error", "payload_too_large", message);
}
