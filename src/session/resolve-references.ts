/** References in an input, replaced by the items that they stand for. */
import { invalidRequest } from "../protocol/api-error.ts";
import { quote } from "../protocol/field-reader.ts";
import type {
  ContextItem,
  InputItem,
  ItemReference,
  ResolvedItem,
} from "../protocol/responses-types.ts";

/** Finds those of the items that are known. */
export type FindItems = (ids: ReadonlySet<string>) => Promise<ReadonlyMap<string, ContextItem>>;

/** @throws {ApiError} item_not_found */
export async function resolveReferences(
  input: readonly InputItem[],
  find: FindItems,
): Promise<readonly ResolvedItem[]> {
  const ids = new Set(input.filter(isReference).map(({ id }) => id));
  const found = ids.size === 0 ? undefined : await find(ids);
  return input.map((item) => {
    if (!isReference(item)) return item;
    const known = found?.get(item.id);
    if (known) return known;
    const message = `There is no item ${quote(item.id)} in a response that is still known.`;
    throw invalidRequest("item_not_found", message, item.path);
  });
}

/** By their ids, from conversations that are at hand. */
export function itemsById(
  conversations: Iterable<readonly ContextItem[]>,
  ids: ReadonlySet<string>,
): ReadonlyMap<string, ContextItem> {
  const found = new Map<string, ContextItem>();
  for (const items of conversations) {
    for (const item of items) {
      if (item.id !== undefined && ids.has(item.id)) found.set(item.id, item);
    }
  }
  return found;
}

function isReference(item: InputItem): item is ItemReference {
  return item.type === "item_reference";
}
