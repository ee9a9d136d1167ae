/**
 * One signal for several reasons to stop. `AbortSignal.any` does the same, but what it makes stays reachable,
 * with all that listens to it, until a full collection: for a server that is garbage with every request.
 */
export interface JoinedAbort {
  readonly signal: AbortSignal;
  /** It follows the others no longer. */
  detach(): void;
}

export function joinAborts(signals: readonly AbortSignal[]): JoinedAbort {
  const controller = new AbortController();
  const abort = () => controller.abort();
  for (const signal of signals) {
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
  }
  return {
    signal: controller.signal,
    detach: () => {
      for (const signal of signals) signal.removeEventListener("abort", abort);
    },
  };
}
