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
import { addAccessHooks } from "./access-hooks.ts";
import { addChatRoute } from "./chat-route.ts";
import { addCompactRoute } from "./compact-route.ts";
import { addCompletionsRoute } from "./completions-route.ts";
import { toApiError } from "./error-reply.ts";
import type { MetricsSource } from "./gateway-options.ts";
import type { ExchangeServices } from "./http-exchange.ts";
import { addModelRoutes } from "./models-route.ts";
import { rawErrorResponse } from "./raw-error.ts";
import { pathOf } from "./request-path.ts";
import { addResponsesRoute } from "./responses-route.ts";
import { addStatusRoutes } from "./status-routes.ts";
import { addStoredResponsesRoutes } from "./stored-responses-route.ts";
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
  acceptJsonOnly(app);
  addAccessHooks(app, options.access);
  addRequestLog(app, logger);
  app.setErrorHandler((error, request, reply) => sendError(request, reply, error, logger));
  app.setNotFoundHandler((request) => refuseRoute(request));
  addStatusRoutes(app, state, options.metrics);
  addModelRoutes(app, state);
  addResponsesRoute(app, options);
  addStoredResponsesRoutes(app, options);
  addCompactRoute(app, options);
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

/** Requests that Node could not parse: they have no request object, hence the raw answer. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const message = "The HTTP request could not be read.";
  const apiError = new ApiError(400, "invalid_request_error", "invalid_value", message);
  socket.end(rawErrorResponse(apiError));
}
