/** Where stored responses outlive the process: the layer below `ResponseStore`. */
import type { ChainState } from "../lane-state.ts";
import type { ShownResponse, StoredResponse } from "./stored-response.ts";

export interface ArchiveLimits {
  /** Of one tenant; the least recently used go first. */
  readonly maxResponses: number;
  /** Of one tenant, as encoded. */
  readonly maxBytes: number;
  /** Since the response was created. */
  readonly ttlSeconds: number;
}

export interface ResponseArchive {
  get(tenant: string, responseId: string): ShownResponse | undefined;
  /** What a turn continues from; undefined: there is nothing to continue. */
  chain(tenant: string, responseId: string): Promise<ChainState | undefined>;
  has(tenant: string, responseId: string): boolean;
  /** Id of the response that has an item of this id in its own input or output. */
  findByItem(tenant: string, itemId: string): string | undefined;
  /** Whole or not at all, also when the process is killed. */
  put(stored: StoredResponse): Promise<void>;
  /** Counts as used now. */
  touch(tenant: string, responseId: string): Promise<void>;
  delete(tenant: string, responseId: string): Promise<void>;
  /** Waits for what is being written. */
  close(): Promise<void>;
}
