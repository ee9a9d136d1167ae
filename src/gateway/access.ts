/**
 * Who may call: keys when there are any, else loopback only, with `Host` and `Origin` checked so
 * that a web page cannot reach the server by DNS rebinding. The same policy serves HTTP requests
 * and WebSocket upgrades.
 */
import type { IncomingHttpHeaders } from "node:http";
import { systemClock } from "../base/clock.ts";
import { isLoopbackHost } from "../base/loopback.ts";
import { ApiError } from "../protocol/api-error.ts";
import type { ApiKeys } from "./api-keys.ts";
import { Caller } from "./caller.ts";

export const DEFAULT_TENANT = "default";

export interface AccessOptions {
  readonly apiKeys: ApiKeys | undefined;
  readonly corsOrigins: readonly string[];
}

export class AccessPolicy {
  /** Everyone while there are no keys; with keys only those who list models without one. */
  readonly anonymous = new Caller(
    { tenant: DEFAULT_TENANT, models: undefined, limits: {} },
    systemClock,
  );
  readonly #apiKeys: ApiKeys | undefined;
  readonly #corsOrigins: ReadonlySet<string>;

  constructor(options: AccessOptions) {
    this.#apiKeys = options.apiKeys;
    this.#corsOrigins = new Set(options.corsOrigins);
  }

  /** @throws {ApiError} 403: a foreign page or host name, and no key stands in its way */
  checkSource(headers: IncomingHttpHeaders): void {
    if (this.#apiKeys !== undefined) return;
    if (headers.host !== undefined && !isLoopbackHost(hostNameOf(`http://${headers.host}`))) {
      throw forbidden("this Host is not served; use localhost or start the server with API keys");
    }
    const { origin } = headers;
    if (origin === undefined || this.isCorsOrigin(origin)) return;
    if (!isLoopbackHost(hostNameOf(origin))) throw forbidden("this Origin may not call the server");
  }

  /** @throws {ApiError} 401 */
  authenticate(headers: IncomingHttpHeaders): Caller {
    if (this.#apiKeys === undefined) return this.anonymous;
    const key = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
    const caller = key === undefined ? undefined : this.#apiKeys.callerOf(key);
    if (caller !== undefined) return caller;
    throw invalidKey(key === undefined ? "No API key was sent" : "The API key is not known");
  }

  isCorsOrigin(origin: string): boolean {
    return this.#corsOrigins.has(origin);
  }
}

/** 401 that names how a key is sent. */
export function invalidKey(problem: string): ApiError {
  return new ApiError(
    401,
    "authentication_error",
    "invalid_api_key",
    `${problem}: send "Authorization: Bearer <key>".`,
    null,
    { "www-authenticate": "Bearer" },
  );
}

function forbidden(message: string): ApiError {
  return new ApiError(403, "permission_error", "forbidden", message);
}

/** Empty for what is no URL, `null` origins among them. */
function hostNameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}
