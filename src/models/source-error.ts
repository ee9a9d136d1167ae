/** A source cannot give the file now; the next one is tried. The message says why. */
export class SourceError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SourceError";
  }
}

/** The message of an error and of what caused it: `fetch failed (connect ECONNREFUSED ...)`. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : describeError(error.cause);
  return cause === "" ? error.message : `${error.message} (${cause})`;
}
