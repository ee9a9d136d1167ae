/**
 * The fastify instance: hooks that every request passes (id, source, CORS, key), errors in one
 * shape, and the routes. Bodies reach routes as bytes; nothing is coerced or validated by fastify.
 */
import { createServer, type RequestListener, type Server } from "node:http";
import type { Duplex } from "node:stream";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { randomId } from "../base/random-id.ts";
import { ApiError } from "../protocol/api-error.ts";
import type { AccessPolicy } from "./access.ts";
import { addChatRoute } from "./chat-route.ts";
import { addCompletionsRoute } from "./completions-route.ts";
import { toApiError } from "./error-reply.ts";
import type { MetricsSource } from "./gateway-options.ts";
import type { ExchangeServices } from "./http-exchange.ts";
import { addModelRoutes } from "./models-route.ts";
import { rawErrorResponse } from "./raw-error.ts";
import { addResponsesRoute } from "./responses-route.ts";
import { addStatusRoutes } from "./status-routes.ts";
import { addUnsupportedRoutes, allowedMethods } from "./unsupported-routes.ts";

/** Node's 5 s breaks clients behind proxies that reuse connections. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

export interface HttpServerOptions extends ExchangeServices {
  readonly access: AccessPolicy;
  readonly metrics: MetricsSource;
}

export interface HttpServer {
  readonly app: FastifyInstance;
  /** A further server with the same routes, for a second address. */
  createServer(): Server;
}

export async function buildHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { state, limits, logger } = options;
  let listener: RequestListener | undefined;
  const app = Fastify({
    bodyLimit: limits.maxPayloadBytes,
    genReqId: () => randomId("req"),
    frameworkErrors: (error, request, reply) => sendError(request, reply, error, logger),
    serverFactory: (handler) => {
      listener = handler as RequestListener;
      return newServer(listener);
    },
  });
  app.decorateRequest("tenant", "");
  app.decorateRequest("receivedMs", 0);
  acceptJsonOnly(app);
  addAccessHook(app, options.access);
  addRequestLog(app, logger);
  app.setErrorHandler((error, request, reply) => sendError(request, reply, error, logger));
  app.setNotFoundHandler((request) => refuseRoute(request));
  addStatusRoutes(app, state, options.metrics);
  addModelRoutes(app, state);
  addResponsesRoute(app, options);
  addChatRoute(app, options);
  addCompletionsRoute(app, options);
  addUnsupportedRoutes(app);
  await app.ready();
  return {
    app,
    createServer: () => {
      if (listener === undefined) throw new Error("fastify made no server");
      return newServer(listener);
    },
  };
}

function newServer(listener: RequestListener): Server {
  const timeouts = {
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    headersTimeout: KEEP_ALIVE_TIMEOUT_MS + 5_000,
  };
  const server = createServer(timeouts, listener);
  server.on("clientError", answerClientError);
  return server;
}

/** Other types are 415: a form post is the one request that a foreign web page may send unasked. */
function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) =>
    done(null, body),
  );
}

function addAccessHook(app: FastifyInstance, access: AccessPolicy): void {
  app.addHook("onRequest", async (request, reply) => {
    request.receivedMs = performance.now();
    reply.header("x-request-id", request.id);
    access.checkSource(request.headers);
    if (answerCors(request, reply, access)) return reply;
    if (!isPublic(request)) request.tenant = access.authenticate(request.headers);
    const encoding = request.headers["content-encoding"] ?? "identity";
    if (encoding === "identity") return undefined;
    const message = "Send the body without content-encoding.";
    throw new ApiError(415, "invalid_request_error", "unsupported_media_type", message);
  });
}

const PUBLIC_PATHS: ReadonlySet<string> = new Set(["/health", "/readiness", "/metrics"]);

/** Status routes need no key; nor does the model list, unless a key is sent (tools probe it so). */
function isPublic(request: FastifyRequest): boolean {
  const path = pathOf(request);
  if (PUBLIC_PATHS.has(path)) return true;
  return path === "/v1/models" && request.headers.authorization === undefined;
}

/** true: it was a preflight and is answered. */
function answerCors(request: FastifyRequest, reply: FastifyReply, access: AccessPolicy): boolean {
  const { origin } = request.headers;
  if (origin === undefined || !access.isCorsOrigin(origin)) return false;
  reply.header("access-control-allow-origin", origin);
  reply.header("vary", "Origin");
  reply.header("access-control-expose-headers", "x-request-id, retry-after");
  const isPreflight = request.headers["access-control-request-method"] !== undefined;
  if (request.method !== "OPTIONS" || !isPreflight) return false;
  const requested = request.headers["access-control-request-headers"];
  reply.header("access-control-allow-methods", "GET, POST, DELETE, OPTIONS");
  reply.header("access-control-allow-headers", requested ?? "authorization, content-type");
  reply.header("access-control-max-age", "600");
  reply.code(204).send();
  return true;
}

/** Path only: a query may carry what its sender took for a key. */
function addRequestLog(app: FastifyInstance, logger: Logger): void {
  app.addHook("onResponse", async (request, reply) => {
    const { id, method } = request;
    const durationMs = Math.round(reply.elapsedTime);
    logger.debug(
      { id, method, path: pathOf(request), status: reply.statusCode, durationMs },
      "http",
    );
  });
}

function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  thrown: unknown,
  logger: Logger,
): void {
  const error = toApiError(thrown, logger);
  // Fastify closes the connection on a large body; clients that still write would see the reset only, not
  // the answer. Left open, Node reads and drops the rest, within its request timeout.
  reply.removeHeader("connection");
  reply.code(error.status).headers(error.headers).header("x-request-id", request.id);
  reply.send({ error: error.body });
}

function refuseRoute(request: FastifyRequest): never {
  const path = pathOf(request);
  const allow = allowedMethods(path);
  if (allow === undefined) {
    throw new ApiError(
      404,
      "invalid_request_error",
      null,
      `There is no ${request.method} ${path}.`,
    );
  }
  const message = `${path} does not take ${request.method}; use ${allow}.`;
  throw new ApiError(405, "invalid_request_error", "method_not_allowed", message, null, { allow });
}

function pathOf(request: FastifyRequest): string {
  return request.url.replace(/\?.*$/s, "");
}

/** Requests that Node could not parse: they have no request object, hence the raw answer. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const message = "The HTTP request could not be read.";
  const apiError = new ApiError(400, "invalid_request_error", null, message);
  socket.end(rawErrorResponse(apiError));
}
