/** Exit codes that scripts rely on; also in setup.mjs, which runs before anything is compiled. */
export const EXIT_CODES = {
  other: 1,
  usage: 2,
  modelFile: 3,
  build: 4,
  download: 5,
  addressInUse: 6,
} as const;
export type ExitReason = keyof typeof EXIT_CODES;

/** Ends the program: the message is the one line on stderr, and says what to do. */
export class ExitError extends Error {
  readonly reason: ExitReason;

  constructor(reason: ExitReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ExitError";
    this.reason = reason;
  }

  get exitCode(): number {
    return EXIT_CODES[this.reason];
  }
}

/** A usage error: an option, key or environment variable that cannot be. */
export function usageError(message: string): ExitError {
  return new ExitError("usage", message);
}
