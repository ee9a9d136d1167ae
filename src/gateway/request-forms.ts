/** Bytes of a body or frame -> a validated request, by the form that its route or socket takes. Pure. */
import { parseChatRequest } from "../protocol/chat-request.ts";
import { parseCompletionRequest } from "../protocol/completion-request.ts";
import { parseJsonObject } from "../protocol/parse-json.ts";
import { parseRequestJson, type RepeatedFields } from "../protocol/repeated-fields.ts";
import { parseResponsesRequest } from "../protocol/responses-request.ts";
import type { ResponsesRequest } from "../protocol/responses-types.ts";
import { parseClientFrame } from "./client-frame.ts";

export const REQUEST_FORMS = {
  responses: (payload: Uint8Array, repeated?: RepeatedFields) =>
    parseResponsesRequest(parseRequestJson(payload, repeated), "http", repeated),
  chat: (payload: Uint8Array, repeated?: RepeatedFields) =>
    parseChatRequest(parseRequestJson(payload, repeated), repeated),
  completion: (payload: Uint8Array) => parseCompletionRequest(parseJsonObject(payload)),
  frame: (payload: Uint8Array, repeated?: RepeatedFields) => parseClientFrame(payload, repeated),
} as const;

export type RequestForm = keyof typeof REQUEST_FORMS;
export type ParsedRequest<F extends RequestForm> = ReturnType<(typeof REQUEST_FORMS)[F]>;

/** What is asked of the session; undefined: nothing, in a frame that is a command or is refused. */
export function requestIn(parsed: ParsedRequest<RequestForm>): ResponsesRequest | undefined {
  if ("input" in parsed) return parsed;
  if (!("request" in parsed)) return undefined;
  const { request } = parsed;
  if ("input" in request) return request;
  return "accepted" in request ? request.accepted : undefined;
}
