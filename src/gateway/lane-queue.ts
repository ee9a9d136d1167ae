/**
 * Order of requests on one WebSocket: first in, first out within a lane, lanes side by side, a
 * bounded number in flight and a bounded number waiting.
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
  /** Runs one request to its end; never rejects. */
  readonly run: (entry: T) => Promise<void>;
}

export class LaneQueue<T extends LaneEntry> {
  readonly #options: LaneQueueOptions<T>;
  readonly #waiting: T[] = [];
  readonly #busyLanes = new Set<string | undefined>();
  #waitingBytes = 0;
  #onIdle: (() => void) | undefined;

  constructor(options: LaneQueueOptions<T>) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#busyLanes.size === 0 && this.#waiting.length === 0;
  }

  /** false: the queue is full and nothing changed. */
  tryAdd(entry: T): boolean {
    const { maxWaitingRequests, maxWaitingBytes } = this.#options;
    if (this.#canStart(entry)) {
      this.#start(entry);
      return true;
    }
    if (this.#waiting.length >= maxWaitingRequests) return false;
    if (this.#waitingBytes + entry.receivedBytes > maxWaitingBytes) return false;
    this.#waiting.push(entry);
    this.#waitingBytes += entry.receivedBytes;
    return true;
  }

  /** Forgets what waits; what runs goes on. */
  clear(): void {
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
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
      this.#waitingBytes -= entry.receivedBytes;
      this.#start(entry);
    }
    if (!this.isIdle) return;
    const onIdle = this.#onIdle;
    this.#onIdle = undefined;
    onIdle?.();
  }
}
