/**
 * The input of a stored response as its sender may list it later: a text as the message that it is,
 * every item with an id. Items that have none get one before they are parsed, so that the list and the
 * context agree and both can be referred to.
 */
import { isJsonObject, type JsonObject } from "../base/json-object.ts";
import { randomId } from "../base/random-id.ts";

const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  tool_search_call: "tsc",
  tool_search_output: "tso",
  compaction: "cmp",
  additional_tools: "at",
};
const OTHER_PREFIX = "item";

/** Whatever is no list of objects stays as it is, for the parser to refuse. */
export function withItemIds(input: unknown): unknown {
  if (typeof input === "string") {
    const content = [{ type: "input_text", text: input }];
    return [{ id: randomId("msg"), type: "message", role: "user", content }];
  }
  return Array.isArray(input) ? input.map(withId) : input;
}

/** Items as they were sent, each with its id, kept as JSON: nobody reads them until they are listed. */
export interface SentItems {
  /** The texts of the items, one behind the other. */
  readonly json: Uint8Array;
  /** Of each item's text, in bytes. */
  readonly ends: readonly number[];
  readonly ids: readonly string[];
}

export const NO_SENT_ITEMS: SentItems = { json: new Uint8Array(), ends: [], ids: [] };

/** @param input that was parsed, after `withItemIds` */
export function sentItems(input: unknown): SentItems {
  const items = Array.isArray(input) ? input.filter(isJsonObject) : [];
  const texts = items.map((item) => Buffer.from(JSON.stringify(item)));
  const ends: number[] = [];
  for (const { byteLength } of texts) ends.push((ends.at(-1) ?? 0) + byteLength);
  return { json: Buffer.concat(texts), ends, ids: items.map(({ id }) => String(id)) };
}

/** Those of the items from `start` up to `end`. */
export function readSentItems(
  { json, ends }: SentItems,
  start: number,
  end: number,
): readonly JsonObject[] {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  return ends.slice(start, end).map((itemEnd, index) => {
    const itemStart = ends[start + index - 1] ?? 0;
    return JSON.parse(bytes.toString("utf8", itemStart, itemEnd));
  });
}

function withId(item: unknown): unknown {
  if (!isJsonObject(item) || typeof item.id === "string") return item;
  const type = typeof item.type === "string" ? item.type : "message";
  return { ...item, id: randomId(ID_PREFIXES[type] ?? OTHER_PREFIX) };
}
