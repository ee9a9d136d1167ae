import { STATUS_CODES } from "node:http";
import { randomId } from "../base/random-id.ts";
import type { ApiError } from "../protocol/api-error.ts";

/** An error as bytes of HTTP, for sockets that have no response object. */
export function rawErrorResponse(error: ApiError): string {
  const body = JSON.stringify({ error: error.body });
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    "x-request-id": randomId("req"),
    connection: "close",
    ...error.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join("")}\r\n${body}`;
}
