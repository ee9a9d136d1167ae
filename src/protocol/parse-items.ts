/**
 * Input items of a Responses request. Items of tools that only other servers run are ignored.
 */
import { invalidRequest } from "./api-error.ts";
import { FieldReader, invalidType, quote } from "./field-reader.ts";
import { idOf, textField } from "./item-fields.ts";
import { parseTextFormat } from "./parse-format.ts";
import { definitionsField, parseCallItem } from "./parse-call-items.ts";
import { parseCompactionItem } from "./parse-compaction.ts";
import { MAX_INPUT_ITEMS, checkTextSize } from "./request-limits.ts";
import {
  type ConfigurationItem,
  type InputItem,
  type MessageItem,
  REASONING_EFFORTS,
  type Role,
  type TextPart,
  type ToolDefinitionsItem,
} from "./responses-types.ts";

const ROLES: readonly Role[] = ["user", "system", "developer", "assistant"];

/** `value` is the request's `input`: a string is one user message. */
export function parseInput(value: unknown): readonly InputItem[] {
  if (value === undefined) return [];
  if (typeof value === "string") return [textMessage("user", checkTextSize(value, "input"))];
  if (!Array.isArray(value)) throw invalidType("input", "a string or an array", value);
  if (value.length > MAX_INPUT_ITEMS) {
    const message = `input has ${value.length} items, at most ${MAX_INPUT_ITEMS} are accepted`;
    throw invalidRequest("invalid_value", message, "input");
  }
  return value.map((item, index) => parseItem(new FieldReader(item, `input[${index}]`)));
}

export function textMessage(role: Role, text: string): MessageItem {
  return { type: "message", role, content: [{ type: textTypeOf(role), text }] };
}

function textTypeOf(role: Role): TextPart["type"] {
  return role === "assistant" ? "output_text" : "input_text";
}

function parseItem(item: FieldReader): InputItem {
  const type = item.string("type") ?? (isBareReference(item) ? "item_reference" : "message");
  switch (type) {
    case "message":
      return parseMessage(item);
    case "item_reference":
      return { type, id: item.requiredString("id"), path: item.path };
    case "agent_message":
      return parseAgentMessage(item);
    case "reasoning":
      return parseReasoning(item);
    case "additional_tools":
      return parseAdditionalTools(item);
    case "configuration_update":
      return parseConfigurationUpdate(item);
    default:
      return (
        parseCallItem(item, type) ?? parseCompactionItem(item, type) ?? parseUnrendered(item, type)
      );
  }
}

/** The API lets references go without their type. */
function isBareReference(item: FieldReader): boolean {
  return item.has("id") && !item.has("role") && !item.has("content");
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

/** From another agent of the client; parts that only its service can read are left out. */
function parseAgentMessage(item: FieldReader): MessageItem {
  const message = { type: "message", ...idOf(item), role: "user" } as const;
  if (!Array.isArray(item.value("content"))) {
    return { ...message, content: parseContent(item, "user") };
  }
  const path = item.pathOf("content");
  const content = (item.array("content") ?? [])
    .map((part, index) => new FieldReader(part, `${path}[${index}]`))
    .filter((part) => part.string("type") === "input_text")
    .map(parseMessagePart);
  return { ...message, content };
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

function parseAdditionalTools(item: FieldReader): ToolDefinitionsItem {
  item.oneOf("role", ["developer"]);
  return { type: "additional_tools", ...idOf(item), tools: definitionsField(item) };
}

/** Without its text there is what a server sealed, or at least a summary. */
function parseReasoning(item: FieldReader): InputItem {
  const text = textsField(item, "content");
  if (text !== "") return { type: "reasoning", ...idOf(item), text };
  const summary = textsField(item, "summary");
  const sealed = item.string("encrypted_content");
  if (sealed) return { type: "sealed_reasoning", ...idOf(item), sealed, summary };
  return summary === "" ? { type: "ignored" } : { type: "reasoning", ...idOf(item), text: summary };
}

function textsField(item: FieldReader, name: string): string {
  const path = item.pathOf(name);
  return (item.array(name) ?? [])
    .map((part, index) => textField(new FieldReader(part, `${path}[${index}]`), "text"))
    .join("");
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

function parseUnrendered(item: FieldReader, type: string): InputItem {
  if (HOSTED_ITEMS.has(type) || type.startsWith("mcp_")) return { type: "ignored" };
  throw item.invalid("type", `has no known item type: ${quote(type)}`);
}

function parseConfigurationUpdate(item: FieldReader): ConfigurationItem {
  const reasoningEffort = item.object("reasoning")?.oneOf("effort", REASONING_EFFORTS);
  const hasFormat = item.object("text")?.has("format") ?? false;
  return {
    type: "configuration_update",
    ...idOf(item),
    ...(reasoningEffort && { reasoningEffort }),
    ...(hasFormat && { textFormat: parseTextFormat(item) }),
  };
}
