/** Upgrades of `/v1/responses`: the checks of every HTTP request, then a `WebSocketConnection`. */
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { type PerMessageDeflateOptions, WebSocketServer } from "ws";
import { randomId } from "../base/random-id.ts";
import { isLoopbackHost } from "../base/loopback.ts";
import { ApiError } from "../protocol/api-error.ts";
import { overloaded } from "../protocol/engine-error-map.ts";
import type { AccessPolicy } from "./access.ts";
import { toApiError } from "./error-reply.ts";
import { explainingSocket } from "./explaining-socket.ts";
import type { GatewayLimits } from "./gateway-options.ts";
import { rawErrorResponse } from "./raw-error.ts";
import type { RequestParser } from "./request-parser.ts";
import type { ServiceState } from "./service-state.ts";
import { CLOSE_GOING_AWAY, WebSocketConnection } from "./websocket-connection.ts";

/** For peers behind a network. No context takeover: it would cost each socket 300 KiB. */
const COMPRESSION: PerMessageDeflateOptions = {
  threshold: 1024,
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
};

export interface ResponsesSocketServerOptions {
  /** false: upgrades are answered with 426, which sends clients to HTTP for good. */
  readonly isEnabled: boolean;
  readonly access: AccessPolicy;
  readonly state: ServiceState;
  readonly parser: RequestParser;
  readonly limits: GatewayLimits;
  readonly logger: Logger;
}

export class ResponsesSocketServer {
  readonly #options: ResponsesSocketServerOptions;
  /** On loopback compression costs time and saves nothing. */
  readonly #local: WebSocketServer;
  readonly #remote: WebSocketServer;
  readonly #connections = new Set<WebSocketConnection>();

  constructor(options: ResponsesSocketServerOptions) {
    this.#options = options;
    const { maxPayloadBytes } = options.limits;
    this.#local = createHandshakes(maxPayloadBytes, false);
    this.#remote = createHandshakes(maxPayloadBytes, COMPRESSION);
  }

  attach(server: Server): void {
    server.on("upgrade", (request, socket, head) => this.#onUpgrade(request, socket, head));
  }

  /** Idle connections close at once, others when their running responses have ended. */
  drain(): void {
    for (const connection of this.#connections) {
      connection.closeWhenIdle(CLOSE_GOING_AWAY, "the server is shutting down");
    }
  }

  terminateAll(): void {
    for (const connection of this.#connections) connection.terminate();
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { access, state, parser, limits, logger, isEnabled } = this.#options;
    socket.on("error", (error) => logger.debug({ err: error }, "upgrade socket error"));
    try {
      access.checkSource(request.headers);
      checkTarget(request);
      if (!isEnabled) throw switchedOff();
      const caller = access.authenticate(request.headers);
      const session = state.requireSession();
      if (this.#connections.size >= limits.maxConnections) {
        throw overloaded(`All ${limits.maxConnections} connections are in use.`);
      }
      const { remoteAddress = "" } = request.socket;
      const server = isLoopbackHost(unmapped(remoteAddress)) ? this.#local : this.#remote;
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const transport = socket as Socket;
        const connection = new WebSocketConnection({
          socket: webSocket,
          transport,
          session,
          state,
          parser,
          caller,
          limits,
          logger,
        });
        this.#connections.add(connection);
        webSocket.on("close", () => this.#connections.delete(connection));
      });
    } catch (error) {
      refuse(socket, toApiError(error, logger));
    }
  }
}

function checkTarget(request: IncomingMessage): void {
  const path = request.url?.replace(/\?.*$/s, "");
  if (path !== "/v1/responses") {
    throw new ApiError(
      404,
      "invalid_request_error",
      null,
      "WebSockets are served at /v1/responses.",
    );
  }
  if (request.headers.upgrade?.toLowerCase() === "websocket") return;
  throw new ApiError(400, "invalid_request_error", null, "Only upgrades to websocket are served.");
}

function createHandshakes(
  maxPayloadBytes: number,
  perMessageDeflate: PerMessageDeflateOptions | false,
): WebSocketServer {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate,
    maxPayload: maxPayloadBytes, // of the inflated message
    WebSocket: explainingSocket(maxPayloadBytes),
    handleProtocols: () => false, // no sub-protocol means anything here
    // One message a turn of the event loop: a packet can hold thousands.
    allowSynchronousEvents: false,
  });
  server.on("headers", (headers) => {
    headers.push(
      `x-request-id: ${randomId("req")}`,
      `x-codex-websocket-max-message-bytes: ${maxPayloadBytes}`,
    );
  });
  server.on("wsClientError", (error, socket) => {
    const problem = new ApiError(400, "invalid_request_error", null, error.message);
    refuse(socket, problem);
  });
  return server;
}

function switchedOff(): ApiError {
  const message = "WebSocket mode is switched off; use POST /v1/responses.";
  return new ApiError(426, "invalid_request_error", null, message);
}

/** An IPv4 peer of an IPv6 listener: `::ffff:127.0.0.1`. */
function unmapped(address: string): string {
  return address.replace(/^::ffff:/i, "");
}

function refuse(socket: Duplex, error: ApiError): void {
  socket.end(rawErrorResponse(error));
}
