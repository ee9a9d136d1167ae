/**
 * Calls of tools and their results in the history. Whatever kind of tool it was, the model reads a
 * function call and its result, so that a history written elsewhere still reads as what happened.
 */
import type { JsonObject } from "../base/json-object.ts";
import { type BuiltInCallFields, builtInArguments, builtInName } from "./built-in-calls.ts";
import { FieldReader, invalidType, quote } from "./field-reader.ts";
import { idOf, textField } from "./item-fields.ts";
import { parseDefinitions } from "./parse-tools.ts";
import { checkTextSize, MAX_CALL_ID_CHARS } from "./request-limits.ts";
import type { FunctionCallItem, InputItem } from "./responses-types.ts";

/** What a text-only model reads in place of an image or file that a tool returned. */
export const OMITTED_PART_TEXT = "[image or file omitted: this model reads text only]";

/** undefined: an item of another kind. */
export function parseCallItem(item: FieldReader, type: string): InputItem | undefined {
  switch (type) {
    case "function_call":
      return parseCall(item, item.requiredString("name"), item.requiredString("arguments"));
    case "custom_tool_call": {
      const input = item.requiredString("input");
      return parseCall(item, item.requiredString("name"), JSON.stringify({ input }));
    }
    case "tool_search_call":
      return isServed(item)
        ? { type: "ignored" }
        : parseBuiltInCall(item, { type, arguments: objectField(item, "arguments") });
    case "local_shell_call":
    case "shell_call":
      return parseBuiltInCall(item, { type, action: objectField(item, "action") });
    case "apply_patch_call":
      return parseBuiltInCall(item, { type, operation: objectField(item, "operation") });
    default:
      return parseOutputItem(item, type);
  }
}

function parseOutputItem(item: FieldReader, type: string): InputItem | undefined {
  switch (type) {
    case "function_call_output":
    case "custom_tool_call_output":
      return callOutput(item, parseToolOutput(item));
    case "local_shell_call_output":
      return localShellOutput(item);
    case "shell_call_output":
      return callOutput(item, JSON.stringify(item.array("output") ?? item.missing("output")));
    case "apply_patch_call_output":
      return callOutput(item, item.string("output") || item.requiredString("status"));
    case "tool_search_output":
      return {
        type,
        ...idOf(item),
        ...(!isServed(item) && { call_id: callIdOf(item) }),
        tools: definitionsField(item),
      };
    default:
      return undefined;
  }
}

/** `tools` of an item that defines some. */
export function definitionsField(item: FieldReader) {
  const tools = item.array("tools") ?? item.missing("tools");
  return parseDefinitions(tools, item.pathOf("tools"));
}

/** A search that another server made has no call to answer. */
function isServed(item: FieldReader): boolean {
  return !item.has("call_id") && item.string("execution") === "server";
}

function parseBuiltInCall(item: FieldReader, fields: BuiltInCallFields): FunctionCallItem {
  return parseCall(item, builtInName(fields.type), builtInArguments(fields));
}

function parseCall(item: FieldReader, name: string, argumentsText: string): FunctionCallItem {
  const namespace = item.string("namespace");
  return {
    type: "function_call",
    ...idOf(item),
    call_id: callIdOf(item),
    name,
    ...(namespace === undefined ? {} : { namespace }),
    arguments: checkTextSize(argumentsText, item.path),
  };
}

function callOutput(item: FieldReader, output: string): InputItem {
  return {
    type: "function_call_output",
    ...idOf(item),
    call_id: callIdOf(item),
    output: checkTextSize(output, item.pathOf("output")),
  };
}

/** Its `id` is that of the call, where there is no `call_id`. */
function localShellOutput(item: FieldReader): InputItem {
  if (item.has("call_id")) return callOutput(item, item.requiredString("output"));
  const output = textField(item, "output");
  return { type: "function_call_output", call_id: item.requiredString("id"), output };
}

function parseToolOutput(item: FieldReader): string {
  const value = item.value("output");
  if (value === undefined) return item.missing("output");
  if (typeof value === "string") return value;
  const path = item.pathOf("output");
  if (!Array.isArray(value)) throw invalidType(path, "a string or an array", value);
  return value
    .map((part, index) => toolOutputText(new FieldReader(part, `${path}[${index}]`)))
    .join("\n");
}

function toolOutputText(part: FieldReader): string {
  const type = part.requiredString("type");
  switch (type) {
    case "input_text":
    case "output_text":
      return textField(part, "text");
    case "input_image":
    case "input_file":
      return OMITTED_PART_TEXT;
    default:
      throw part.invalid("type", `has no known content type: ${quote(type)}`);
  }
}

function objectField(item: FieldReader, name: string): JsonObject {
  if (item.object(name) === undefined) return item.missing(name);
  return item.value(name) as JsonObject;
}

function callIdOf(item: FieldReader): string {
  const callId = item.requiredString("call_id");
  if (callId.length > 0 && callId.length <= MAX_CALL_ID_CHARS) return callId;
  throw item.invalid("call_id", `must have 1 to ${MAX_CALL_ID_CHARS} characters`);
}
