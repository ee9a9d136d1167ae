/**
 * Order of requests on one WebSocket: first in, first out within a lane, lanes side by side, a
 * bounded number in flight and a bounded number waiting, whose bytes are bounded by lane as well.
 */

export interface LaneEntry {
  /** undefined is the connection's default lane. */
  readonly streamId: string | undefined;
  readonly receivedBytes: number;
}

export interface LaneQueueOptions<T extends LaneEntry> {
  readonly maxInFlight: number;
  readonly maxWaitingRequests: number;
  readonly maxWaitingBytes: number;
  readonly maxWaitingBytesPerLane: number;
  /** Runs one request to its end; never rejects. */
  readonly run: (entry: T) => Promise<void>;
  /** A waiting request was started or forgotten: another one may wait. */
  readonly onRoom: () => void;
}

export class LaneQueue<T extends LaneEntry> {
  readonly #options: LaneQueueOptions<T>;
  readonly #waiting: T[] = [];
  readonly #busyLanes = new Set<string | undefined>();
  #onIdle: (() => void) | undefined;

  constructor(options: LaneQueueOptions<T>) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#busyLanes.size === 0 && this.#waiting.length === 0;
  }

  /** false: the queue is full and nothing changed. */
  tryAdd(entry: T): boolean {
    if (this.#canStart(entry)) {
      this.#start(entry);
      return true;
    }
    if (!this.#hasRoom(entry)) return false;
    this.#waiting.push(entry);
    return true;
  }

  /** What comes next on a lane. */
  firstWaiting(streamId: string | undefined): T | undefined {
    return this.#waiting.find((entry) => entry.streamId === streamId);
  }

  /** Forgets what waits; what runs goes on. */
  clear(): void {
    this.#waiting.length = 0;
    this.#options.onRoom();
  }

  /** Calls back once, now or when the last request has ended. */
  whenIdle(callback: () => void): void {
    if (this.isIdle) callback();
    else this.#onIdle = callback;
  }

  #canStart(entry: T): boolean {
    const hasRoom = this.#busyLanes.size < this.#options.maxInFlight;
    return hasRoom && !this.#busyLanes.has(entry.streamId);
  }

  #hasRoom({ streamId, receivedBytes }: T): boolean {
    const { maxWaitingRequests, maxWaitingBytes, maxWaitingBytesPerLane } = this.#options;
    const sameLane = this.#waiting.filter((entry) => entry.streamId === streamId);
    return (
      this.#waiting.length < maxWaitingRequests &&
      bytesOf(this.#waiting) + receivedBytes <= maxWaitingBytes &&
      bytesOf(sameLane) + receivedBytes <= maxWaitingBytesPerLane
    );
  }

  #start(entry: T): void {
    this.#busyLanes.add(entry.streamId);
    void this.#options.run(entry).then(() => {
      this.#busyLanes.delete(entry.streamId);
      this.#startWaiting();
    });
  }

  #startWaiting(): void {
    while (this.#busyLanes.size < this.#options.maxInFlight) {
      const index = this.#waiting.findIndex((entry) => !this.#busyLanes.has(entry.streamId));
      const [entry] = index === -1 ? [] : this.#waiting.splice(index, 1);
      if (entry === undefined) break;
      this.#start(entry);
      this.#options.onRoom();
    }
    if (!this.isIdle) return;
    const onIdle = this.#onIdle;
    this.#onIdle = undefined;
    onIdle?.();
  }
}

function bytesOf(entries: readonly LaneEntry[]): number {
  return entries.reduce((sum, { receivedBytes }) => sum + receivedBytes, 0);
}
