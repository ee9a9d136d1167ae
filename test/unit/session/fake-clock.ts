import type { Clock } from "../../../src/base/clock.ts";

/** Time that only moves when a test says so. */
export class FakeClock implements Clock {
  #nowMs = 1_000;
  #timers: { atMs: number; callback: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  unixSeconds(): number {
    return 1_700_000_000 + Math.floor(this.#nowMs / 1000);
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  get numTimers(): number {
    return this.#timers.length;
  }

  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const due = this.#timers
        .filter(({ atMs }) => atMs <= endMs)
        .sort((left, right) => left.atMs - right.atMs)[0];
      if (!due) break;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.#nowMs = due.atMs;
      due.callback();
    }
    this.#nowMs = endMs;
  }
}
