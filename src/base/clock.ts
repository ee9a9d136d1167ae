/** Time as the code sees it: the machine's in production, stepped by hand in tests. */
export interface Clock {
  /** Monotonic milliseconds, comparable with `performance.now()`. */
  nowMs(): number;
  unixSeconds(): number;
  /** Runs `callback` once after `delayMs`; the returned function cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Its timers do not keep the process alive. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  unixSeconds: () => Math.floor(Date.now() / 1000),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
