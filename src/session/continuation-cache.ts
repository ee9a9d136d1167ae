/**
 * Recent responses of one WebSocket, in memory, gone when it closes: the last 8 of every lane, 64 in
 * all, so that forks and retries find their parent. Ids of other sockets are not in here.
 */
import { LRUCache } from "lru-cache";
import type { ContextItem } from "../protocol/responses-types.ts";
import { type LaneState, laneStateBytes } from "./lane-state.ts";
import { itemsById } from "./resolve-references.ts";
import type { ConnectionState, TurnContext } from "./session-types.ts";

const MAX_PER_LANE = 8;
const MAX_PER_CONNECTION = 64;
const MAX_BYTES = 256 * 1024 * 1024;

export class ContinuationCache implements ConnectionState {
  readonly tenant: string;
  readonly #onClose: () => void;
  readonly #states = new LRUCache<string, LaneState>({
    max: MAX_PER_CONNECTION,
    maxSize: MAX_BYTES,
    sizeCalculation: laneStateBytes,
    dispose: (state) => state.sequence.release(),
  });
  #isClosed = false;

  constructor(tenant: string, onClose: () => void) {
    this.tenant = tenant;
    this.#onClose = onClose;
  }

  get(responseId: string): LaneState | undefined {
    return this.#states.get(responseId);
  }

  findItems(ids: ReadonlySet<string>): ReadonlyMap<string, ContextItem> {
    return itemsById(
      [...this.#states.values()].map(({ items }) => items),
      ids,
    );
  }

  /** A response that ends after its socket is not kept. */
  put(state: LaneState): void {
    if (this.#isClosed) return;
    state.sequence.hold();
    this.#states.set(state.responseId, state);
    const older = [...this.#states.values()]
      .filter(({ streamId }) => streamId === state.streamId)
      .slice(MAX_PER_LANE);
    for (const { responseId } of older) this.#states.delete(responseId);
  }

  delete(responseId: string): void {
    this.#states.delete(responseId);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#states.clear();
    this.#onClose();
  }
}

/** The cache of a turn's socket; undefined on HTTP. */
export function cacheOf({ connection }: TurnContext): ContinuationCache | undefined {
  if (connection === undefined || connection instanceof ContinuationCache) return connection;
  throw new TypeError("the connection was not opened by this session service");
}
