/**
 * Stored responses in an LMDB file. Every change is one transaction, so that a killed process leaves
 * no part of one. The bounds are kept by indexes inside the file: two servers may share a folder, and
 * what one of them deletes is gone for the other.
 *
 *   responses  [tenant, id]              the response, and where its input has which item
 *   inputs     [tenant, id]              its input as sent
 *   chains     [tenant, id]              what a chain goes on from
 *   entries    [tenant, id]              Entry: what the other indexes hold of it
 *   byUse      [tenant, use number, id]  least recently used first
 *   byAge      [created at, tenant, id]  oldest first, all tenants
 *   items      [tenant, item id]         id of the newest response with that item
 *   totals     tenant                    Totals
 *   meta       "uses"                    the last use number
 */
import { type Database, open, type RootDatabase } from "lmdb";
import type { ChainState } from "../lane-state.ts";
import type { ArchiveLimits, ResponseArchive } from "./response-archive.ts";
import { prepareStoreFolder, StoreFolderError } from "./store-folder.ts";
import {
  decodeChain,
  decodeShownResponse,
  encodeStoredResponse,
  type ResponseRecord,
  type ShownResponse,
  type StoredResponse,
} from "./stored-response.ts";

interface Entry {
  readonly bytes: number;
  readonly createdAt: number;
  readonly use: number;
  readonly itemIds: readonly string[];
}

interface Totals {
  readonly responses: number;
  readonly bytes: number;
}

type Key = readonly [tenant: string, id: string];

const DATABASES: ReadonlySet<unknown> = new Set([
  "responses",
  "inputs",
  "chains",
  "entries",
  "byUse",
  "byAge",
  "items",
  "totals",
  "meta",
]);
/** Keys of LMDB are bounded; ids of ours are far shorter, those of clients may be anything. */
const INDEXABLE_ID = /^[\w-]{1,256}$/;
const MAX_EXPIRED_AT_ONCE = 256; // a transaction holds the event loop

export class LmdbArchive implements ResponseArchive {
  readonly #limits: ArchiveLimits;
  readonly #unixSeconds: () => number;
  readonly #root: RootDatabase;
  readonly #responses: Database<Buffer, string[]>;
  readonly #inputs: Database<Buffer, string[]>;
  readonly #chains: Database<Buffer, string[]>;
  readonly #entries: Database<Entry, string[]>;
  readonly #byUse: Database<true, (string | number)[]>;
  readonly #byAge: Database<true, (string | number)[]>;
  readonly #items: Database<string, string[]>;
  readonly #totals: Database<Totals, string>;
  readonly #meta: Database<number, string>;

  /** @throws {StoreFolderError} the folder is no store of ours and cannot become one */
  static open(folder: string, limits: ArchiveLimits, unixSeconds: () => number): LmdbArchive {
    prepareStoreFolder(folder);
    return new LmdbArchive(folder, limits, unixSeconds);
  }

  /** For a folder that this process has opened before: preparing it again would undo LMDB's locks. */
  constructor(folder: string, limits: ArchiveLimits, unixSeconds: () => number) {
    this.#limits = limits;
    this.#unixSeconds = unixSeconds;
    this.#root = open({ path: folder, noSubdir: false, maxDbs: 10 });
    const isForeign = [...this.#root.getKeys()].some((name) => !DATABASES.has(name));
    if (isForeign) throw new StoreFolderError("holds another program's data");
    const json = { encoding: "json" } as const;
    this.#meta = this.#root.openDB("meta", json);
    const binary = { encoding: "binary" } as const;
    this.#responses = this.#root.openDB("responses", binary);
    this.#inputs = this.#root.openDB("inputs", binary);
    this.#chains = this.#root.openDB("chains", binary);
    this.#entries = this.#root.openDB("entries", json);
    this.#byUse = this.#root.openDB("byUse", json);
    this.#byAge = this.#root.openDB("byAge", json);
    this.#items = this.#root.openDB("items", json);
    this.#totals = this.#root.openDB("totals", json);
    this.#root.transactionSync(() => this.#removeExpired());
  }

  get(tenant: string, responseId: string): ShownResponse | undefined {
    if (!this.has(tenant, responseId)) return undefined;
    const key = [tenant, responseId];
    const [head, input] = [this.#responses.get(key), this.#inputs.get(key)];
    return head && input && decodeShownResponse({ head, input });
  }

  async chain(tenant: string, responseId: string): Promise<ChainState | undefined> {
    const bytes = this.has(tenant, responseId) && this.#chains.get([tenant, responseId]);
    return bytes ? decodeChain(bytes) : undefined;
  }

  has(tenant: string, responseId: string): boolean {
    return this.bytesOf(tenant, responseId) !== undefined;
  }

  /** As encoded; undefined: there is no such response. */
  bytesOf(tenant: string, responseId: string): number | undefined {
    const entry = INDEXABLE_ID.test(responseId) && this.#entries.get([tenant, responseId]);
    return entry && entry.createdAt > this.#expiryLimit ? entry.bytes : undefined;
  }

  findByItem(tenant: string, itemId: string): string | undefined {
    const responseId = INDEXABLE_ID.test(itemId) ? this.#items.get([tenant, itemId]) : undefined;
    return responseId !== undefined && this.has(tenant, responseId) ? responseId : undefined;
  }

  async put(stored: StoredResponse): Promise<void> {
    const record = encodeStoredResponse(stored);
    if (bytesOf(record) > this.#limits.maxBytes) return;
    const key: Key = [stored.tenant, stored.response.id];
    await this.#change(() => {
      this.#remove(key);
      this.#add(key, stored, record);
      this.#removeExpired();
      this.#removeOldest(stored.tenant);
    });
  }

  async touch(tenant: string, responseId: string): Promise<void> {
    await this.#change(() => {
      const key: Key = [tenant, responseId];
      const entry = this.#entries.get([...key]);
      if (!entry) return;
      this.#byUse.removeSync([tenant, entry.use, responseId]);
      this.#setEntry(key, { ...entry, use: this.#nextUse() });
    });
  }

  async delete(tenant: string, responseId: string): Promise<void> {
    if (!INDEXABLE_ID.test(responseId)) return;
    await this.#change(() => this.#remove([tenant, responseId]));
  }

  /** Another thread has written: what is read from here on has it. */
  refresh(): void {
    this.#root.resetReadTxn();
  }

  async close(): Promise<void> {
    await this.#root.close();
  }

  /** A child transaction: an ordinary one of this library keeps what was done before a throw. */
  async #change(action: () => void): Promise<void> {
    await this.#root.childTransaction(action);
  }

  #add(key: Key, { response, inputItems }: StoredResponse, record: ResponseRecord): void {
    const [tenant, id] = key;
    const outputIds = response.output.map((item) => item.id);
    const itemIds = [...inputItems.ids, ...outputIds].filter((itemId) => INDEXABLE_ID.test(itemId));
    const bytes = bytesOf(record);
    this.#responses.putSync([...key], record.head);
    this.#inputs.putSync([...key], record.input);
    this.#chains.putSync([...key], record.chain);
    this.#setEntry(key, {
      bytes,
      createdAt: response.created_at,
      use: this.#nextUse(),
      itemIds,
    });
    this.#byAge.putSync([response.created_at, ...key], true);
    for (const itemId of itemIds) this.#items.putSync([tenant, itemId], id);
    this.#addToTotals(tenant, 1, bytes);
  }

  #remove(key: Key): void {
    const entry = this.#entries.get([...key]);
    if (!entry) return;
    const [tenant, id] = key;
    this.#responses.removeSync([...key]);
    this.#inputs.removeSync([...key]);
    this.#chains.removeSync([...key]);
    this.#entries.removeSync([...key]);
    this.#byUse.removeSync([tenant, entry.use, id]);
    this.#byAge.removeSync([entry.createdAt, ...key]);
    for (const itemId of entry.itemIds) {
      if (this.#items.get([tenant, itemId]) === id) this.#items.removeSync([tenant, itemId]);
    }
    this.#addToTotals(tenant, -1, -entry.bytes);
  }

  #removeExpired(): void {
    const end = [this.#expiryLimit, "\uffff"];
    const keys = [...this.#byAge.getKeys({ start: [0], end, limit: MAX_EXPIRED_AT_ONCE })];
    for (const [, tenant, id] of keys) this.#remove([String(tenant), String(id)]);
  }

  #removeOldest(tenant: string): void {
    const range = { start: [tenant, 0], end: [tenant, Number.POSITIVE_INFINITY], limit: 1 };
    while (this.#isOver(tenant)) {
      const [oldest] = [...this.#byUse.getKeys(range)];
      if (!oldest) return;
      this.#remove([tenant, String(oldest[2])]);
    }
  }

  #isOver(tenant: string): boolean {
    const { responses, bytes } = this.#totalsOf(tenant);
    return responses > this.#limits.maxResponses || bytes > this.#limits.maxBytes;
  }

  #setEntry(key: Key, entry: Entry): void {
    const [tenant, id] = key;
    this.#entries.putSync([...key], entry);
    this.#byUse.putSync([tenant, entry.use, id], true);
  }

  #addToTotals(tenant: string, responses: number, bytes: number): void {
    const totals = this.#totalsOf(tenant);
    this.#totals.putSync(tenant, {
      responses: totals.responses + responses,
      bytes: totals.bytes + bytes,
    });
  }

  #totalsOf(tenant: string): Totals {
    return this.#totals.get(tenant) ?? { responses: 0, bytes: 0 };
  }

  #nextUse(): number {
    const use = (this.#meta.get("uses") ?? 0) + 1;
    this.#meta.putSync("uses", use);
    return use;
  }

  /** What was created then or before has expired. */
  get #expiryLimit(): number {
    return this.#unixSeconds() - this.#limits.ttlSeconds;
  }
}

function bytesOf({ head, input, chain }: ResponseRecord): number {
  return head.byteLength + input.byteLength + chain.byteLength;
}
