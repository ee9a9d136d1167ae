/** Frames that clients send: bytes -> a known event with its lane. Fields are read later, in order. */
import { invalidRequest } from "../protocol/api-error.ts";
import { quote } from "../protocol/field-reader.ts";
import { parseJsonObject } from "../protocol/parse-json.ts";
import type { LaneEntry } from "./lane-queue.ts";

const STREAM_ID = /^[A-Za-z0-9_.-]{1,256}$/;

export interface ClientFrame extends LaneEntry {
  readonly type: "response.create" | "response.steer";
  readonly fields: Readonly<Record<string, unknown>>;
  /** `performance.now()` when the frame was complete. */
  readonly receivedMs: number;
}

/** @throws {ApiError} 400 invalid_json, unknown_event_type, invalid_stream_id */
export function parseClientFrame(payload: Buffer, receivedMs: number): ClientFrame {
  const fields = parseJsonObject(payload);
  const { type } = fields;
  if (type !== "response.create" && type !== "response.steer") throw unknownType(type);
  return {
    type,
    fields,
    streamId: parseStreamId(fields.stream_id),
    receivedBytes: payload.byteLength,
    receivedMs,
  };
}

function unknownType(type: unknown): Error {
  const shown = typeof type === "string" ? quote(type) : "none";
  const message = `event types are response.create and response.steer; got ${shown}`;
  return invalidRequest("unknown_event_type", message, "type");
}

function parseStreamId(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && STREAM_ID.test(value)) return value;
  const message = "stream_id must be 1 to 256 characters of A-Z, a-z, 0-9, _ . and -";
  throw invalidRequest("invalid_stream_id", message, "stream_id");
}

/** Steering is not built; clients fall back to sending their message with the next request. */
export function steerRefusal(frame: ClientFrame): object {
  const { previous_response_id, input } = frame.fields;
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
