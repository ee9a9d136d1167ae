/** An error as clients see it. Thrown before a response starts; the gateway writes it on the wire. */

export type ApiErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "permission_error"
  | "rate_limit_error"
  | "server_error";

export interface ApiErrorBody {
  readonly message: string;
  readonly type: ApiErrorType;
  readonly param: string | null;
  readonly code: string | null;
}

/** An error without its class: what can go from one thread to another. */
export interface ApiErrorFacts {
  readonly status: number;
  readonly body: ApiErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

export class ApiError extends Error implements ApiErrorFacts {
  readonly status: number;
  readonly body: ApiErrorBody;
  /** Extra response headers, `retry-after` for one. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    type: ApiErrorType,
    code: string | null,
    message: string,
    param: string | null = null,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.body = { message, type, param, code };
    this.headers = headers;
  }

  static of({ status, body, headers }: ApiErrorFacts): ApiError {
    const { type, code, message, param } = body;
    return new ApiError(status, type, code, message, param, headers);
  }

  get facts(): ApiErrorFacts {
    const { status, body, headers } = this;
    return { status, body, headers };
  }
}

/**
 * A result, or in its place the refusal as a value: to go from one thread to another, or to wait for its
 * turn.
 */
export type Outcome<T> = { readonly accepted: T } | { readonly refusal: ApiErrorFacts };

/** For a catch block. @throws what is no ApiError */
export function refusalOf(error: unknown): { readonly refusal: ApiErrorFacts } {
  if (error instanceof ApiError) return { refusal: error.facts };
  throw error;
}

/** @throws {ApiError} the refusal */
export function acceptedOf<T>(outcome: Outcome<T>): T {
  if ("refusal" in outcome) throw ApiError.of(outcome.refusal);
  return outcome.accepted;
}

/** 400 with a code and the path of the field. */
export function invalidRequest(
  code: string,
  message: string,
  param: string | null = null,
): ApiError {
  return new ApiError(400, "invalid_request_error", code, message, param);
}
