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

/** Of an input that was parsed. */
export function listedItems(input: unknown): readonly JsonObject[] {
  return Array.isArray(input) ? input.filter(isJsonObject) : [];
}

function withId(item: unknown): unknown {
  if (!isJsonObject(item) || typeof item.id === "string") return item;
  const type = typeof item.type === "string" ? item.type : "message";
  return { ...item, id: randomId(ID_PREFIXES[type] ?? OTHER_PREFIX) };
}
