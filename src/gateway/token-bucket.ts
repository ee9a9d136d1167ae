/**
 * A budget a minute: full at first, refilled evenly, one minute's worth at most. It may be overdrawn by
 * costs that are known only afterwards; it then stays empty until the debt is paid. Pure: time is an
 * argument.
 */
const MINUTE_MS = 60_000;

export class TokenBucket {
  readonly perMinute: number;
  #level: number;
  #filledMs: number;

  constructor(perMinute: number, nowMs: number) {
    this.perMinute = perMinute;
    this.#level = perMinute;
    this.#filledMs = nowMs;
  }

  /** Whole units that are left; 0 while overdrawn. */
  remaining(nowMs: number): number {
    return Math.max(0, Math.floor(this.#levelAt(nowMs)));
  }

  take(amount: number, nowMs: number): void {
    this.#level = this.#levelAt(nowMs) - amount;
    this.#filledMs = nowMs;
  }

  /** Time until one unit is left; 0 when it is. */
  waitMs(nowMs: number): number {
    return this.#msUntil(1, nowMs);
  }

  /** Time until it is full again. */
  resetMs(nowMs: number): number {
    return this.#msUntil(this.perMinute, nowMs);
  }

  #msUntil(level: number, nowMs: number): number {
    return Math.max(0, ((level - this.#levelAt(nowMs)) * MINUTE_MS) / this.perMinute);
  }

  #levelAt(nowMs: number): number {
    const filled = ((nowMs - this.#filledMs) * this.perMinute) / MINUTE_MS;
    return Math.min(this.perMinute, this.#level + filled);
  }
}
