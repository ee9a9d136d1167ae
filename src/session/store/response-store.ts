/**
 * Responses created with `store:true`: for chains over HTTP and across sockets, and for the routes that
 * show them. The latest ones are in memory, with the live sequences and token ids of their chains;
 * below lies the archive, if there is one, which outlives the process. Bounded per tenant by count,
 * bytes and age. An id resolves only for the tenant that created it.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../base/clock.ts";
import type { ContextItem } from "../../protocol/responses-types.ts";
import { type ChainState, type LaneState, laneStateBytes } from "../lane-state.ts";
import type { LiveSequence } from "../live-sequence.ts";
import { itemsById } from "../resolve-references.ts";
import type { ArchiveLimits, ResponseArchive } from "./response-archive.ts";
import type { ShownResponse, StoredResponse } from "./stored-response.ts";

export interface StoreLimits extends ArchiveLimits {
  /** Stored responses that keep their live sequence; older ones are found by content. */
  readonly maxSequences: number;
}

export const DEFAULT_STORE_LIMITS: StoreLimits = {
  maxResponses: 1000,
  maxBytes: 256 * 1024 * 1024,
  ttlSeconds: 24 * 60 * 60,
  maxSequences: 64,
};

export interface ResponseStoreOptions {
  readonly clock: Clock;
  readonly limits: StoreLimits;
  /** undefined: a restart forgets everything. */
  readonly archive: ResponseArchive | undefined;
  /** Hears of a response that could not be written. */
  readonly reportError: (error: unknown) => void;
}

interface HeldResponse {
  readonly stored: StoredResponse;
  readonly lane: LaneState | undefined;
  /** Settles when it is in the archive: from then on the archive says whether it still exists. */
  written: Promise<void>;
  isArchived: boolean;
}

const RESPONSE_BYTES = 4096; // a response object without its texts

export class ResponseStore {
  readonly #options: ResponseStoreOptions;
  readonly #byTenant = new Map<string, LRUCache<string, HeldResponse>>();
  readonly #sequences: LRUCache<string, LiveSequence>;
  readonly #writing = new Set<Promise<void>>();

  constructor(options: ResponseStoreOptions) {
    this.#options = options;
    this.#sequences = new LRUCache({
      max: options.limits.maxSequences,
      dispose: (sequence) => sequence.release(),
    });
  }

  get(tenant: string, responseId: string): ShownResponse | undefined {
    const held = this.#held(tenant, responseId);
    const shown = held?.stored ?? this.#options.archive?.get(tenant, responseId);
    if (shown) this.#touch(tenant, responseId, held);
    return shown;
  }

  /** What a turn continues from, with its live lane if that is still held. */
  async chain(tenant: string, responseId: string): Promise<ChainState | undefined> {
    const held = this.#held(tenant, responseId);
    const { archive } = this.#options;
    const chain = held
      ? (held.lane ?? held.stored.chain)
      : await archive?.chain(tenant, responseId);
    if (chain) this.#touch(tenant, responseId, held);
    return chain;
  }

  /** Items by their ids, from the own input and output of stored responses. */
  async findItems(
    tenant: string,
    itemIds: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, ContextItem>> {
    const { archive } = this.#options;
    const held = [...(this.#byTenant.get(tenant)?.values() ?? [])];
    const inMemory = itemsById(held.map(itemsOf), itemIds);
    const missing = [...itemIds].filter((id) => !inMemory.has(id));
    const archived = new Set(missing.map((id) => archive?.findByItem(tenant, id)));
    const chains = await Promise.all(
      [...archived].map((id) => (id === undefined ? undefined : archive?.chain(tenant, id))),
    );
    const inArchive = itemsById(
      chains.map((chain) => chain?.items ?? []),
      itemIds,
    );
    return new Map([...inArchive, ...inMemory]);
  }

  /** Known at once; written behind the events of this turn of the event loop. */
  put(stored: StoredResponse, lane?: LaneState): void {
    const { tenant, response } = stored;
    const held: HeldResponse = { stored, lane, isArchived: false, written: Promise.resolve() };
    this.#tenantResponses(tenant).set(response.id, held);
    if (lane) {
      lane.sequence.hold();
      this.#sequences.set(response.id, lane.sequence);
    }
    const { archive } = this.#options;
    if (!archive) return;
    held.written = this.#write(async () => {
      await afterThisTurn();
      await archive.put(stored);
      held.isArchived = true;
    });
  }

  /** false: there is no such response. */
  async delete(tenant: string, responseId: string): Promise<boolean> {
    if (!this.get(tenant, responseId)) return false;
    await this.#held(tenant, responseId)?.written;
    this.#byTenant.get(tenant)?.delete(responseId);
    await this.#options.archive?.delete(tenant, responseId);
    return true;
  }

  /** Waits for what is being written. */
  async close(): Promise<void> {
    await this.flush();
    for (const responses of this.#byTenant.values()) responses.clear();
    this.#sequences.clear();
    await this.#options.archive?.close();
  }

  /** Resolves when all responses put so far are written. */
  async flush(): Promise<void> {
    await Promise.all(this.#writing);
  }

  /** It counts as used now. What is still being written is the latest anyway. */
  #touch(tenant: string, responseId: string, held: HeldResponse | undefined): void {
    const { archive } = this.#options;
    if (!held || held.isArchived) void this.#write(() => archive?.touch(tenant, responseId));
  }

  /** Another process that shares the archive may have deleted it. */
  #held(tenant: string, responseId: string): HeldResponse | undefined {
    const responses = this.#byTenant.get(tenant);
    const held = responses?.get(responseId);
    if (!held?.isArchived || this.#options.archive?.has(tenant, responseId)) return held;
    responses?.delete(responseId);
    return undefined;
  }

  #write(write: () => Promise<void> | undefined): Promise<void> {
    const writing = Promise.resolve(write())
      .catch((error: unknown) => this.#options.reportError(error))
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
    return writing;
  }

  #tenantResponses(tenant: string): LRUCache<string, HeldResponse> {
    const existing = this.#byTenant.get(tenant);
    if (existing) return existing;
    const { limits, clock } = this.#options;
    const created = new LRUCache<string, HeldResponse>({
      max: limits.maxResponses,
      maxSize: limits.maxBytes,
      sizeCalculation: heldBytes,
      ttl: limits.ttlSeconds * 1000,
      ttlResolution: 0, // ask the clock each time
      perf: { now: () => clock.nowMs() },
      dispose: (_held, responseId) => this.#sequences.delete(responseId),
    });
    this.#byTenant.set(tenant, created);
    return created;
  }
}

function itemsOf({ stored }: HeldResponse): readonly ContextItem[] {
  return stored.chain?.items ?? [];
}

function heldBytes({ stored, lane }: HeldResponse): number {
  return RESPONSE_BYTES + stored.inputItems.json.byteLength + (lane ? laneStateBytes(lane) : 0);
}

function afterThisTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
