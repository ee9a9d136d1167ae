/**
 * Input items of a Responses request. Items of tools that only other servers run are dropped; calls
 * of client-side tools that this server does not offer (custom, shell, patch, tool search) are kept
 * as function calls, so that a history written elsewhere still reads as what happened.
 */
import { invalidRequest } from "./api-error.ts";
import { FieldReader, invalidType, quote, unsupportedParameter } from "./field-reader.ts";
import { decodeReasoning } from "./reasoning-blob.ts";
import { MAX_CALL_ID_CHARS, MAX_INPUT_ITEMS, checkTextSize } from "./request-limits.ts";
import type {
  FunctionCallItem,
  FunctionCallOutputItem,
  InputItem,
  MessageItem,
  ReasoningItem,
  Role,
  TextPart,
} from "./responses-types.ts";

const ROLES: readonly Role[] = ["user", "system", "developer", "assistant"];

/** What a text-only model reads in place of an image or file that a tool returned. */
export const OMITTED_PART_TEXT = "[image or file omitted: this model reads text only]";

/** `value` is the request's `input`: a string is one user message. */
export function parseInput(value: unknown): readonly InputItem[] {
  if (value === undefined) return [];
  if (typeof value === "string") return [textMessage("user", checkTextSize(value, "input"))];
  if (!Array.isArray(value)) throw invalidType("input", "a string or an array", value);
  if (value.length > MAX_INPUT_ITEMS) {
    const message = `input has ${value.length} items, at most ${MAX_INPUT_ITEMS} are accepted`;
    throw invalidRequest("invalid_value", message, "input");
  }
  return value
    .map((item, index) => parseItem(new FieldReader(item, `input[${index}]`)))
    .filter((item) => item !== undefined);
}

export function textMessage(role: Role, text: string): MessageItem {
  return { type: "message", role, content: [{ type: textTypeOf(role), text }] };
}

function textTypeOf(role: Role): TextPart["type"] {
  return role === "assistant" ? "output_text" : "input_text";
}

/** undefined: the item never reaches the prompt. */
function parseItem(item: FieldReader): InputItem | undefined {
  const type = item.string("type") ?? "message";
  switch (type) {
    case "message":
      return parseMessage(item);
    case "agent_message":
      return { type: "message", role: "user", content: parseContent(item, "user") };
    case "function_call":
      return parseCall(item, item.requiredString("name"), item.requiredString("arguments"));
    case "custom_tool_call":
      return parseCall(
        item,
        item.requiredString("name"),
        JSON.stringify({ input: item.requiredString("input") }),
      );
    case "local_shell_call":
    case "shell_call":
      return parseCall(item, type.replace(/_call$/, ""), objectText(item, "action"));
    case "apply_patch_call":
      return parseCall(item, "apply_patch", objectText(item, "operation"));
    case "tool_search_call":
      return parseCall(item, "tool_search", objectText(item, "arguments"));
    case "function_call_output":
    case "custom_tool_call_output":
      return callOutput(item, callIdOf(item), parseToolOutput(item));
    case "local_shell_call_output":
      return callOutput(item, item.string("call_id") ?? item.requiredString("id"), textOf(item));
    case "shell_call_output":
      return callOutput(item, callIdOf(item), JSON.stringify(item.array("output") ?? []));
    case "apply_patch_call_output":
      return callOutput(item, callIdOf(item), item.string("output") ?? "");
    case "tool_search_output":
      return callOutput(item, callIdOf(item), JSON.stringify(item.array("tools") ?? []));
    case "reasoning":
      return parseReasoning(item);
    default:
      return parseUnrendered(item, type);
  }
}

function parseMessage(item: FieldReader): MessageItem {
  const role = item.oneOf("role", ROLES) ?? item.missing("role");
  const phase = item.string("phase");
  return {
    type: "message",
    ...idOf(item),
    role,
    content: parseContent(item, role),
    ...(phase === undefined ? {} : { phase }),
  };
}

/** Assistant messages may have no content: some clients send null beside tool calls. */
function parseContent(item: FieldReader, role: Role): readonly TextPart[] {
  const value = item.value("content");
  if (value === undefined) return role === "assistant" ? [] : item.missing("content");
  const path = item.pathOf("content");
  if (typeof value === "string") {
    return [{ type: textTypeOf(role), text: checkTextSize(value, path) }];
  }
  if (!Array.isArray(value)) throw invalidType(path, "a string or an array", value);
  return value.map((part, index) => parseMessagePart(new FieldReader(part, `${path}[${index}]`)));
}

function parseMessagePart(part: FieldReader): TextPart {
  const type = part.requiredString("type");
  switch (type) {
    case "input_text":
    case "output_text":
      return { type, text: textField(part, "text") };
    case "refusal":
      return { type: "output_text", text: textField(part, "refusal") };
    case "input_image":
    case "input_file":
      throw unsupportedContent(part.path, type);
    default:
      throw part.invalid("type", `has no known content type: ${quote(type)}`);
  }
}

export function unsupportedContent(path: string, type: string): Error {
  return invalidRequest("unsupported_content", `this model reads text only, not ${type}`, path);
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

function callOutput(item: FieldReader, callId: string, output: string): FunctionCallOutputItem {
  return {
    type: "function_call_output",
    ...idOf(item),
    call_id: callId,
    output: checkTextSize(output, item.pathOf("output")),
  };
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

/** `encrypted_content` of another server cannot be read, and must not fail the request. */
function parseReasoning(item: FieldReader): ReasoningItem | undefined {
  item.array("summary");
  const path = item.pathOf("content");
  const text = (item.array("content") ?? [])
    .map((part, index) => textField(new FieldReader(part, `${path}[${index}]`), "text"))
    .join("");
  const known = text === "" ? decodeReasoning(item.string("encrypted_content") ?? "") : text;
  return known ? { type: "reasoning", ...idOf(item), text: known } : undefined;
}

/** Calls that another server ran itself: accepted, nothing of them is rendered. */
const HOSTED_ITEMS: ReadonlySet<string> = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "computer_call",
  "computer_call_output",
  "program",
  "program_output",
]);

const UNSUPPORTED_ITEMS: ReadonlySet<string> = new Set([
  "item_reference",
  "additional_tools",
  "compaction",
  "compaction_summary",
  "context_compaction",
  "compaction_trigger",
]);

function parseUnrendered(item: FieldReader, type: string): undefined {
  if (HOSTED_ITEMS.has(type) || type.startsWith("mcp_")) return undefined;
  if (type === "configuration_update") return checkConfigurationUpdate(item);
  if (UNSUPPORTED_ITEMS.has(type)) {
    throw unsupportedParameter(item.pathOf("type"), `items of type ${type} are not handled yet`);
  }
  throw item.invalid("type", `has no known item type: ${quote(type)}`);
}

/** Reasoning effort changes nothing here; a format would have to be enforced. */
function checkConfigurationUpdate(item: FieldReader): undefined {
  const format = item.object("text")?.object("format");
  if (format !== undefined && format.requiredString("type") !== "text") {
    throw unsupportedParameter(format.path, "output formats are not handled yet");
  }
  return undefined;
}

function textField(part: FieldReader, name: string): string {
  return checkTextSize(part.requiredString(name), part.pathOf(name));
}

function textOf(item: FieldReader): string {
  return textField(item, "output");
}

function objectText(item: FieldReader, name: string): string {
  if (item.object(name) === undefined) return item.missing(name);
  return JSON.stringify(item.value(name));
}

function callIdOf(item: FieldReader): string {
  const callId = item.requiredString("call_id");
  if (callId.length > 0 && callId.length <= MAX_CALL_ID_CHARS) return callId;
  throw item.invalid("call_id", `must have 1 to ${MAX_CALL_ID_CHARS} characters`);
}

function idOf(item: FieldReader): { readonly id?: string } {
  const id = item.string("id");
  return id === undefined ? {} : { id };
}
