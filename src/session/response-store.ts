/**
 * Responses created with `store:true`, for chains over HTTP and across sockets: per tenant at most
 * 1000, 256 MiB and 24 h, least recently used first out. In memory: a restart forgets them; a store
 * on disk is not built yet. An id resolves only for the tenant that created it.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";
import { type LaneState, type LiveSequence, laneStateBytes } from "./lane-state.ts";

export interface StoreLimits {
  readonly maxResponses: number;
  readonly maxBytes: number;
  readonly ttlMs: number;
  /** Stored responses that keep their live sequence; older ones are found by content. */
  readonly maxSequences: number;
}

export const DEFAULT_STORE_LIMITS: StoreLimits = {
  maxResponses: 1000,
  maxBytes: 256 * 1024 * 1024,
  ttlMs: 24 * 60 * 60 * 1000,
  maxSequences: 64,
};

export class ResponseStore {
  readonly #limits: StoreLimits;
  readonly #clock: Clock;
  readonly #byTenant = new Map<string, LRUCache<string, LaneState>>();
  readonly #sequences: LRUCache<string, LiveSequence>;

  constructor(clock: Clock, limits: StoreLimits = DEFAULT_STORE_LIMITS) {
    this.#limits = limits;
    this.#clock = clock;
    this.#sequences = new LRUCache({
      max: limits.maxSequences,
      dispose: (sequence) => sequence.release(),
    });
  }

  get(tenant: string, responseId: string): LaneState | undefined {
    return this.#byTenant.get(tenant)?.get(responseId);
  }

  put(state: LaneState): void {
    this.#tenantStates(state.tenant).set(state.responseId, state);
    this.#sequences.set(state.responseId, state.sequence);
  }

  clear(): void {
    for (const states of this.#byTenant.values()) states.clear();
    this.#sequences.clear();
  }

  #tenantStates(tenant: string): LRUCache<string, LaneState> {
    const existing = this.#byTenant.get(tenant);
    if (existing) return existing;
    const { maxResponses, maxBytes, ttlMs } = this.#limits;
    const created = new LRUCache<string, LaneState>({
      max: maxResponses,
      maxSize: maxBytes,
      sizeCalculation: laneStateBytes,
      ttl: ttlMs,
      ttlResolution: 0, // ask the clock each time
      perf: { now: () => this.#clock.nowMs() },
      dispose: (state) => this.#sequences.delete(state.responseId),
    });
    this.#byTenant.set(tenant, created);
    return created;
  }
}
