/** Query of `GET /v1/responses/{id}`. */
import { quote } from "./field-reader.ts";
import { INCLUDE_VALUES } from "./include-values.ts";
import { invalidQuery, queryInteger, queryList, queryOneOf } from "./query-fields.ts";

export interface RetrieveQuery {
  /** The events instead of the object. */
  readonly stream: boolean;
  /** Number of the last event that the client has; -1 without one. */
  readonly startingAfter: number;
}

/** @throws {ApiError} invalid_value */
export function parseRetrieveQuery(query: URLSearchParams): RetrieveQuery {
  for (const [index, value] of queryList(query, "include").entries()) {
    if (INCLUDE_VALUES.has(value)) continue;
    throw invalidQuery(`include[${index}]`, `has no known value: ${quote(value)}`);
  }
  const range = { min: 0, max: Number.MAX_SAFE_INTEGER };
  return {
    stream: queryOneOf(query, "stream", ["true", "false"]) === "true",
    startingAfter: queryInteger(query, "starting_after", range) ?? -1,
  };
}
