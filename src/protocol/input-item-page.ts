/** Pages of `GET /v1/responses/{id}/input_items`. Pure. */
import type { JsonObject } from "../base/json-object.ts";
import { quote } from "./field-reader.ts";
import { invalidQuery, queryInteger, queryOneOf } from "./query-fields.ts";
import { readSentItems, type SentItems } from "./sent-items.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

export interface InputItemsQuery {
  readonly limit: number;
  /** desc: the last item first. */
  readonly order: "asc" | "desc";
  /** Id of the item in front of the page. */
  readonly after: string | undefined;
}

export interface InputItemPage {
  readonly object: "list";
  readonly data: readonly JsonObject[];
  readonly first_id: unknown;
  readonly last_id: unknown;
  readonly has_more: boolean;
}

/** @throws {ApiError} invalid_value */
export function parseInputItemsQuery(query: URLSearchParams): InputItemsQuery {
  return {
    limit: queryInteger(query, "limit", { min: 1, max: MAX_LIMIT }) ?? DEFAULT_LIMIT,
    order: queryOneOf(query, "order", ["asc", "desc"]) ?? "desc",
    after: query.get("after") ?? undefined,
  };
}

/** @throws {ApiError} invalid_value: there is no item of that id */
export function pageOf(sent: SentItems, { limit, order, after }: InputItemsQuery): InputItemPage {
  const ids = order === "asc" ? sent.ids : sent.ids.toReversed();
  const start = after === undefined ? 0 : ids.indexOf(after) + 1;
  if (after !== undefined && start === 0) {
    throw invalidQuery("after", `names no input item of this response: ${quote(after)}`);
  }
  const end = Math.min(start + limit, ids.length);
  const data =
    order === "asc"
      ? readSentItems(sent, start, end)
      : readSentItems(sent, ids.length - end, ids.length - start).toReversed();
  return {
    object: "list",
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: end < ids.length,
  };
}
