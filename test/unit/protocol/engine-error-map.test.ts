import { expect, test } from "vitest";
import {
  engineApiError,
  failedResponseError,
  mapEngineError,
} from "../../../src/protocol/engine-error-map.ts";

test.each([
  ["ERR_CONTEXT_TOO_LONG", 400, "context_length_exceeded", "context_length_exceeded"],
  ["ERR_GRAMMAR", 400, "invalid_grammar", "invalid_prompt"],
  ["ERR_QUEUE_FULL", 429, "rate_limit_exceeded", "rate_limit_exceeded"],
  ["ERR_ENGINE_CLOSED", 503, "server_is_overloaded", "server_error"],
  ["ERR_ENGINE_FAILED", 500, "server_error", "server_error"],
  ["ERR_INTERNAL", 500, "server_error", "server_error"],
  ["ERR_NEVER_HEARD_OF", 500, "server_error", "server_error"],
])("%s maps to %d %s, later %s", (native, status, code, failedCode) => {
  expect(mapEngineError(native, "facts")).toMatchObject({ status, code, failedCode });
});

test("a full queue says when to try again, in header and sentence", () => {
  const error = engineApiError("ERR_QUEUE_FULL", "the queue has 64 requests.");
  expect(error.headers).toEqual({ "retry-after": "1" });
  expect(error.message).toBe("the queue has 64 requests. Please try again in 1s.");
});

test("internal details of an engine failure stay out of the message", () => {
  expect(mapEngineError("ERR_INTERNAL", "/home/x/model.gguf: assertion").message).not.toMatch(
    "/home",
  );
});

test("a response that failed unseen becomes an HTTP error of its code", () => {
  expect(failedResponseError("context_length_exceeded", "m").status).toBe(400);
  expect(failedResponseError("invalid_prompt", "m").status).toBe(400);
  expect(failedResponseError("rate_limit_exceeded", "m").status).toBe(429);
  expect(failedResponseError("server_error", "m").status).toBe(500);
});
