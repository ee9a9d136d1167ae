/**
 * An archive whose large responses are encoded, written, read and decoded on another thread. Small ones
 * are not worth the way there. Both threads have the same LMDB file open.
 */
import { exceedsChars } from "../../base/json-chars.ts";
import { ThreadPool } from "../../base/thread-pool.ts";
import type { ChainState } from "../lane-state.ts";
import type { ArchiveWorkerData } from "./archive-worker.ts";
import type { LmdbArchive } from "./lmdb-archive.ts";
import type { ResponseArchive } from "./response-archive.ts";
import type { ShownResponse, StoredResponse } from "./stored-response.ts";

/** Up to here encoding and writing take a few milliseconds. */
const MAX_INLINE_BYTES = 256 * 1024;

export class ThreadedArchive implements ResponseArchive {
  readonly #archive: LmdbArchive;
  readonly #pool: ThreadPool;
  #isThreadOpen = false;

  /** @param workerData of the same folder as `archive` */
  constructor(archive: LmdbArchive, workerData: ArchiveWorkerData) {
    this.#archive = archive;
    const file = "session/store/archive-worker.js";
    this.#pool = new ThreadPool({ file, maxThreads: 1, workerData });
  }

  get(tenant: string, responseId: string): ShownResponse | undefined {
    return this.#archive.get(tenant, responseId);
  }

  async chain(tenant: string, responseId: string): Promise<ChainState | undefined> {
    const bytes = this.#archive.bytesOf(tenant, responseId) ?? 0;
    if (bytes <= MAX_INLINE_BYTES) return this.#archive.chain(tenant, responseId);
    const chain = await this.#onThread("chain", [tenant, responseId]);
    return chain as ChainState | undefined;
  }

  has(tenant: string, responseId: string): boolean {
    return this.#archive.has(tenant, responseId);
  }

  findByItem(tenant: string, itemId: string): string | undefined {
    return this.#archive.findByItem(tenant, itemId);
  }

  async put(stored: StoredResponse): Promise<void> {
    if (!isLarge(stored)) return this.#archive.put(stored);
    await this.#onThread("put", stored);
    this.#archive.refresh();
  }

  touch(tenant: string, responseId: string): Promise<void> {
    return this.#archive.touch(tenant, responseId);
  }

  delete(tenant: string, responseId: string): Promise<void> {
    return this.#archive.delete(tenant, responseId);
  }

  async close(): Promise<void> {
    if (this.#isThreadOpen) await this.#pool.run("close", undefined);
    await this.#pool.close();
    await this.#archive.close();
  }

  #onThread(name: string, task: unknown): Promise<unknown> {
    this.#isThreadOpen = true;
    return this.#pool.run(name, task);
  }
}

function isLarge({ response, inputItems, chain }: StoredResponse): boolean {
  const { byteLength } = inputItems.json;
  const values = [response, chain?.head, ...(chain?.items ?? [])];
  return byteLength > MAX_INLINE_BYTES || exceedsChars(values, MAX_INLINE_BYTES);
}
