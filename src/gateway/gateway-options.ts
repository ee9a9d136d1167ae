/** What the gateway is given, and the limits it works with. */
import type { Logger } from "pino";
import type { ApiKeys } from "./api-keys.ts";

const MIB = 1024 * 1024;

export interface GatewayOptions {
  /** `127.0.0.1`, `localhost` and `::1` serve both loopback addresses. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** undefined: everyone is tenant `default`, and only loopback may be served. */
  readonly apiKeys?: ApiKeys;
  /** Origins of web pages that may call the server, `http://app.local:3000`. */
  readonly corsOrigins?: readonly string[];
  /** Default: true. */
  readonly isWebSocketEnabled?: boolean;
  /** Event streams of responses end with `[DONE]`, as those of chats do. Default: false. */
  readonly sendsDone?: boolean;
  /** Body of `/metrics`. */
  readonly metrics: MetricsSource;
  readonly logger: Logger;
  readonly limits?: Partial<GatewayLimits>;
}

export interface MetricsSource {
  readonly contentType: string;
  render(): Promise<string>;
}

export interface GatewayLimits {
  /** HTTP body and inbound WebSocket message, bytes. */
  readonly maxPayloadBytes: number;
  /** WebSockets that are open at a time. */
  readonly maxConnections: number;
  readonly maxNamedLanes: number;
  readonly maxInFlight: number;
  readonly maxWaitingRequests: number;
  readonly maxWaitingBytes: number;
  readonly maxWaitingBytesPerLane: number;
  /** Outbound backlog from which text deltas are merged instead of queued. */
  readonly softBacklogBytes: number;
  /** Outbound backlog at which the client is cut off. */
  readonly hardBacklogBytes: number;
  /** Longest time a backlog may stay above the soft mark. */
  readonly drainTimeoutMs: number;
  /** From the close frame to cutting TCP: the frame waits behind the backlog. */
  readonly closeGraceMs: number;
  readonly pingIntervalMs: number;
  readonly pongTimeoutMs: number;
  readonly maxConnectionAgeMs: number;
  /** Silence of a chat stream before a comment line. */
  readonly keepaliveMs: number;
}

export const DEFAULT_LIMITS: GatewayLimits = {
  maxPayloadBytes: 32 * MIB,
  maxConnections: 256,
  maxNamedLanes: 32,
  maxInFlight: 16,
  maxWaitingRequests: 64,
  maxWaitingBytes: 64 * MIB,
  maxWaitingBytesPerLane: 32 * MIB,
  softBacklogBytes: MIB,
  hardBacklogBytes: 16 * MIB,
  drainTimeoutMs: 30_000,
  closeGraceMs: 1_000,
  pingIntervalMs: 25_000,
  pongTimeoutMs: 20_000,
  maxConnectionAgeMs: 60 * 60_000,
  keepaliveMs: 12_000,
};
