/** Frames that clients send: bytes -> a known event with its lane, its request validated. Pure. */
import { invalidRequest, type Outcome, refusalOf } from "../protocol/api-error.ts";
import { quote } from "../protocol/field-reader.ts";
import { parseRequestJson, type RepeatedFields } from "../protocol/repeated-fields.ts";
import { parseResponsesRequest } from "../protocol/responses-request.ts";
import type { ResponsesRequest } from "../protocol/responses-types.ts";

const FRAME_TYPES = ["response.create", "response.cancel", "response.steer"] as const;
const STREAM_ID = /^[A-Za-z0-9_.-]{1,256}$/;

export type ClientFrame = CreateFrame | CancelFrame | SteerFrame;

export interface CreateFrame {
  readonly type: "response.create";
  /** undefined is the connection's default lane. */
  readonly streamId: string | undefined;
  /** A refusal waits for its turn, so that errors come in the order of the requests. */
  readonly request: Outcome<ResponsesRequest>;
}

export type CancelFrame = CommandFrame<"response.cancel">;
export type SteerFrame = CommandFrame<"response.steer">;

/** Speaks of a response that was created before. */
interface CommandFrame<Type> {
  readonly type: Type;
  readonly streamId: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** @throws {ApiError} 400 invalid_json, unknown_event_type, invalid_stream_id */
export function parseClientFrame(payload: Uint8Array, repeated?: RepeatedFields): ClientFrame {
  const fields = parseRequestJson(payload, repeated);
  const type = FRAME_TYPES.find((known) => known === fields.type);
  if (type === undefined) throw unknownType(fields.type);
  const streamId = parseStreamId(fields.stream_id);
  return type === "response.create"
    ? { type, streamId, request: parseRequest(fields, repeated) }
    : { type, streamId, fields };
}

function parseRequest(
  fields: Readonly<Record<string, unknown>>,
  repeated: RepeatedFields | undefined,
): Outcome<ResponsesRequest> {
  try {
    return { accepted: parseResponsesRequest(fields, "ws", repeated) };
  } catch (error) {
    return refusalOf(error);
  }
}

function unknownType(type: unknown): Error {
  const shown = typeof type === "string" ? quote(type) : "none";
  const message = `event types are ${FRAME_TYPES.join(", ")}; got ${shown}`;
  return invalidRequest("unknown_event_type", message, "type");
}

function parseStreamId(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && STREAM_ID.test(value)) return value;
  const message = "stream_id must be 1 to 256 characters of A-Z, a-z, 0-9, _ . and -";
  throw invalidRequest("invalid_stream_id", message, "stream_id");
}

/** Steering is not built; clients fall back to sending their message with the next request. */
export function steerRefusal({ fields }: SteerFrame): object {
  const { previous_response_id, input } = fields;
  return {
    type: "response.steer.failed",
    sequence_number: 0,
    error: {
      type: "invalid_request_error",
      code: "steering_not_supported",
      message: "This server does not steer running responses.",
    },
    steer: { previous_response_id, input },
  };
}
