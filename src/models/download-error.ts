/** Why a model is not there. The code is stable, the message says what to do. */
export type DownloadErrorCode =
  /** Nothing answers, or not for long enough. */
  | "ERR_DOWNLOAD_NETWORK"
  /** The hub wants an account that has accepted the model's terms. */
  | "ERR_DOWNLOAD_GATED"
  | "ERR_DOWNLOAD_NOT_FOUND"
  /** The body kept ending before its end. */
  | "ERR_DOWNLOAD_TRUNCATED"
  | "ERR_DOWNLOAD_CHECKSUM"
  /** An answer that cannot be used: another size, a name that leaves its folder. */
  | "ERR_DOWNLOAD_ANSWER"
  | "ERR_DOWNLOAD_PIP"
  /** None of a model's sources could give it. */
  | "ERR_DOWNLOAD_NO_SOURCE"
  /** No space, or a folder that cannot be written. */
  | "ERR_DOWNLOAD_DISK"
  | "ERR_LICENSE_NOT_ACCEPTED";

export class DownloadError extends Error {
  readonly code: DownloadErrorCode;

  constructor(code: DownloadErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DownloadError";
    this.code = code;
  }
}

/** The message of an error and of what caused it: `fetch failed (connect ECONNREFUSED ...)`. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : describeError(error.cause);
  return cause === "" ? error.message : `${error.message} (${cause})`;
}
