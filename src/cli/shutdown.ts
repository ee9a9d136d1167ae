/** Signals: the first drains and ends with 0, a second one ends at once. */

/** npm passes a Ctrl-C on that the terminal has already sent to us: that is one signal, not two. */
const SAME_SIGNAL_MS = 500;
const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** Calls `drain` once and exits when it is done. */
export function drainOnSignal(drain: () => Promise<void>): void {
  let firstSignalMs: number | undefined;
  const onSignal = (signal: keyof typeof SIGNAL_EXIT_CODES): void => {
    const nowMs = performance.now();
    if (firstSignalMs === undefined) {
      firstSignalMs = nowMs;
      drain().then(
        () => process.exit(0),
        (error: unknown) => {
          process.stderr.write(`warmloop: shutting down failed: ${String(error)}\n`);
          process.exit(1);
        },
      );
    } else if (nowMs - firstSignalMs > SAME_SIGNAL_MS) {
      process.exit(SIGNAL_EXIT_CODES[signal]);
    }
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}
