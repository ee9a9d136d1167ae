/**
 * The transports: HTTP, SSE and WebSocket in front of one `SessionService`. It listens before the
 * model is loaded (health 200, readiness 503, API 503), serves once `setReady` is called, and
 * drains: what has started ends, new work is refused, then the sockets close. It knows nothing of
 * tokens, models or engines; requests are parsed by `protocol`, answered by `session`.
 */
import type { Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { usageError } from "../base/exit-error.ts";
import { isLoopbackHost } from "../base/loopback.ts";
import type { SessionService } from "../session/session-types.ts";
import { AccessPolicy } from "./access.ts";
import { DEFAULT_LIMITS, type GatewayOptions } from "./gateway-options.ts";
import { buildHttpServer } from "./http-server.ts";
import { listenOn } from "./listen.ts";
import { RequestParser } from "./request-parser.ts";
import { ServiceState } from "./service-state.ts";
import { ResponsesSocketServer } from "./websocket-server.ts";

export interface BoundAddress {
  readonly url: string;
  readonly port: number;
}

export interface Gateway {
  /** @throws {ExitError} address in use, or a host that may not be served without keys */
  listen(): Promise<BoundAddress>;
  /** Requests are served from now on. */
  setReady(session: SessionService): void;
  /** Refuses new work and waits for what runs; what is left at the deadline is aborted. Idempotent. */
  drain(deadlineMs: number): Promise<void>;
  /** Closes every socket at once. Idempotent. */
  close(): Promise<void>;
}

/** Aborted work still has to write its terminal event. */
const ABORT_GRACE_MS = 2_000;
/** Close frames and last bytes are on their way; peers answer them on their own. */
const CLOSE_GRACE_MS = 100;

export function createGateway(options: GatewayOptions): Gateway {
  return new HttpGateway(options);
}

class HttpGateway implements Gateway {
  readonly #options: GatewayOptions;
  readonly #state = new ServiceState();
  readonly #parser = new RequestParser();
  readonly #access: AccessPolicy;
  readonly #sockets: ResponsesSocketServer;
  #servers: readonly Server[] = [];
  #drained: Promise<void> | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#access = new AccessPolicy({
      apiKeys: options.apiKeys,
      corsOrigins: options.corsOrigins ?? [],
    });
    this.#sockets = new ResponsesSocketServer({
      ...this.#shared(),
      isEnabled: options.isWebSocketEnabled ?? true,
    });
  }

  async listen(): Promise<BoundAddress> {
    const { host, port, apiKeys, metrics } = this.#options;
    if (apiKeys === undefined && !isLoopbackHost(host)) {
      const message = `serving ${host} needs --api-keys: without keys only loopback is served`;
      throw usageError(message);
    }
    const { createServer } = await buildHttpServer({ ...this.#shared(), metrics });
    const bound = await listenOn(createServer, host, port);
    this.#servers = bound.servers;
    for (const server of bound.servers) this.#sockets.attach(server);
    return { url: bound.url, port: bound.port };
  }

  setReady(session: SessionService): void {
    this.#state.setReady(session);
  }

  drain(deadlineMs: number): Promise<void> {
    this.#drained ??= this.#drain(deadlineMs);
    return this.#drained;
  }

  async #drain(deadlineMs: number): Promise<void> {
    this.#state.setDraining();
    this.#sockets.drain();
    await this.#state.waitIdle(deadlineMs);
    this.#state.abortRunning();
    await this.#state.waitIdle(ABORT_GRACE_MS);
    await sleep(CLOSE_GRACE_MS);
    await this.close();
  }

  async close(): Promise<void> {
    this.#state.setDraining();
    this.#state.abortRunning();
    this.#sockets.terminateAll();
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
    this.#servers = [];
    await this.#parser.close();
  }

  #shared() {
    return {
      access: this.#access,
      state: this.#state,
      parser: this.#parser,
      limits: { ...DEFAULT_LIMITS, ...this.#options.limits },
      logger: this.#options.logger,
      sendsDone: this.#options.sendsDone ?? false,
    };
  }
}
