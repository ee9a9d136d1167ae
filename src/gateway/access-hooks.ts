/** What every HTTP request passes before its body is read: id, source, CORS, key, budgets, encoding. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../protocol/api-error.ts";
import type { AccessPolicy } from "./access.ts";
import { pathOf } from "./request-path.ts";

export function addAccessHooks(app: FastifyInstance, access: AccessPolicy): void {
  app.decorateRequest("caller", null);
  app.decorateRequest("receivedMs", 0);
  app.addHook("onRequest", async (request, reply) => {
    request.receivedMs = performance.now();
    reply.header("x-request-id", request.id);
    access.checkSource(request.headers);
    if (answerCors(request, reply, access)) return reply;
    const caller = isPublic(request) ? access.anonymous : access.authenticate(request.headers);
    request.caller = caller;
    if (isMetered(request)) reply.raw.once("close", caller.admit());
    reply.headers(caller.limitHeaders());
    checkEncoding(request);
    return undefined;
  });
  // Once more, for errors and for what the request has cost meanwhile. Streams do not come by here.
  app.addHook("onSend", async ({ caller }, reply) => {
    if (caller !== null) reply.headers(caller.limitHeaders());
  });
}

const PUBLIC_PATHS: ReadonlySet<string> = new Set(["/health", "/readiness", "/metrics"]);

/** Status routes need no key; nor does the model list, unless a key is sent (tools probe it so). */
function isPublic(request: FastifyRequest): boolean {
  const path = pathOf(request);
  if (PUBLIC_PATHS.has(path)) return true;
  return path === "/v1/models" && request.headers.authorization === undefined;
}

/** Counted against the key's budgets: what makes the server compute. A cancel only ends something. */
function isMetered(request: FastifyRequest): boolean {
  return request.method === "POST" && !pathOf(request).endsWith("/cancel");
}

/** @throws {ApiError} 415 */
function checkEncoding({ headers }: FastifyRequest): void {
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding === "identity") return;
  const message = "Send the body without content-encoding.";
  throw new ApiError(415, "invalid_request_error", "unsupported_media_type", message);
}

const EXPOSED_HEADERS = [
  "x-request-id",
  "retry-after",
  ...["requests", "tokens"].flatMap((unit) =>
    ["limit", "remaining", "reset"].map((name) => `x-ratelimit-${name}-${unit}`),
  ),
].join(", ");

/** true: it was a preflight and is answered. */
function answerCors(request: FastifyRequest, reply: FastifyReply, access: AccessPolicy): boolean {
  const { origin } = request.headers;
  if (origin === undefined || !access.isCorsOrigin(origin)) return false;
  reply.header("access-control-allow-origin", origin);
  reply.header("vary", "Origin");
  reply.header("access-control-expose-headers", EXPOSED_HEADERS);
  const isPreflight = request.headers["access-control-request-method"] !== undefined;
  if (request.method !== "OPTIONS" || !isPreflight) return false;
  const requested = request.headers["access-control-request-headers"];
  reply.header("access-control-allow-methods", "GET, POST, DELETE, OPTIONS");
  reply.header("access-control-allow-headers", requested ?? "authorization, content-type");
  reply.header("access-control-max-age", "600");
  reply.code(204).send();
  return true;
}
