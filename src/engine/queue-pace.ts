/**
 * How fast the waiting turns are taken, for the clients that find the queue full: a mean of the time
 * between two of them, recent ones counting most. Pure: time is an argument.
 */
const WEIGHT_OF_NEWEST = 0.2;
/** Before anything was measured. */
const FIRST_GUESS_MS = 1_000;
const MAX_SECONDS = 60;

export class QueuePace {
  #gapMs = FIRST_GUESS_MS;
  #lastMs: number | undefined;

  /** A waiting turn got a slot; `numLeft` still wait. */
  taken(nowMs: number, numLeft: number): void {
    if (this.#lastMs !== undefined) {
      this.#gapMs += (nowMs - this.#lastMs - this.#gapMs) * WEIGHT_OF_NEWEST;
    }
    this.#lastMs = numLeft === 0 ? undefined : nowMs; // time without a queue says nothing
  }

  /** Until those who wait now are taken: whole seconds, 1 to 60. */
  secondsFor(numWaiting: number): number {
    const seconds = Math.ceil((this.#gapMs * numWaiting) / 1000);
    return Math.min(MAX_SECONDS, Math.max(1, seconds));
  }
}
