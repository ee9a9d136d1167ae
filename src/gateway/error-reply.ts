/** Whatever was thrown -> the error that a client gets. Details of faults go to the log only. */
import type { Logger } from "pino";
import { ApiError, type ApiErrorBody, type ApiErrorType } from "../protocol/api-error.ts";

export interface ErrorFrame {
  readonly type: "error";
  readonly status: number;
  readonly stream_id?: string;
  readonly error: ApiErrorBody;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The full WebSocket envelope: without a numeric `status` real clients wait for ever. */
export function errorFrame(error: ApiError, streamId: string | undefined): ErrorFrame {
  return {
    type: "error",
    status: error.status,
    ...(streamId === undefined ? {} : { stream_id: streamId }),
    error: error.body,
    ...(Object.keys(error.headers).length === 0 ? {} : { headers: error.headers }),
  };
}

/** Anything but an `ApiError` is a fault of ours: logged, and 500 without its text. */
export function toApiError(error: unknown, logger: Logger): ApiError {
  if (error instanceof ApiError) return error;
  const known = frameworkError(error);
  if (known !== undefined) return known;
  logger.error({ err: error }, "request failed");
  const message = "The server had an error while processing the request.";
  return new ApiError(500, "server_error", "server_error", message);
}

/** Codes of fastify's own refusals. */
const FRAMEWORK_ERRORS: Readonly<Record<string, readonly [number, string, string]>> = {
  FST_ERR_BAD_URL: [400, "invalid_value", "The path of the request is not a valid URL."],
  FST_ERR_CTP_BODY_TOO_LARGE: [413, "payload_too_large", "The request body is too large."],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    415,
    "unsupported_media_type",
    "Send the body with content-type: application/json.",
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    400,
    "invalid_json",
    "The request body does not have the length that its content-length says.",
  ],
};

function frameworkError(error: unknown): ApiError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  const known = typeof code === "string" ? FRAMEWORK_ERRORS[code] : undefined;
  if (known !== undefined) return new ApiError(known[0], clientFault, known[1], known[2]);
  if (typeof statusCode !== "number" || statusCode < 400 || statusCode >= 500) return undefined;
  return new ApiError(statusCode, clientFault, "invalid_value", "The request could not be read.");
}

const clientFault: ApiErrorType = "invalid_request_error";
