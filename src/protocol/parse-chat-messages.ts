/** Chat Completions messages -> items. Results must answer a call that stands before them. */
import { FieldReader, invalidType, quote } from "./field-reader.ts";
import { textMessage, unsupportedContent } from "./parse-items.ts";
import { checkTextSize, MAX_INPUT_ITEMS } from "./request-limits.ts";
import type { FunctionCallItem, InputItem } from "./responses-types.ts";

const ROLES = ["system", "developer", "user", "assistant", "tool"] as const;

export function parseChatMessages(body: FieldReader): readonly InputItem[] {
  const messages = body.array("messages") ?? body.missing("messages");
  if (messages.length === 0) throw body.invalid("messages", "must not be empty");
  if (messages.length > MAX_INPUT_ITEMS) {
    throw body.invalid("messages", `has ${messages.length} entries, at most ${MAX_INPUT_ITEMS}`);
  }
  const callIds = new Set<string>();
  return messages.flatMap((value, index) =>
    parseMessage(new FieldReader(value, `messages[${index}]`), callIds),
  );
}

function parseMessage(message: FieldReader, callIds: Set<string>): readonly InputItem[] {
  const role = message.oneOf("role", ROLES) ?? message.missing("role");
  if (role === "tool") return [parseToolResult(message, callIds)];
  if (role === "assistant") return parseAssistant(message, callIds);
  return [textMessage(role, contentText(message) ?? message.missing("content"))];
}

function parseAssistant(message: FieldReader, callIds: Set<string>): readonly InputItem[] {
  if (message.has("function_call")) throw message.unsupported("function_call", "use tool_calls");
  const reasoning = message.string("reasoning_content") ?? "";
  const text = contentText(message) ?? message.string("refusal") ?? "";
  const path = message.pathOf("tool_calls");
  const calls = (message.array("tool_calls") ?? []).map((call, index) =>
    parseCall(new FieldReader(call, `${path}[${index}]`)),
  );
  for (const call of calls) callIds.add(call.call_id);
  const isSilent = text === "" && calls.length > 0;
  return [
    ...(reasoning === "" ? [] : [{ type: "reasoning" as const, text: reasoning }]),
    ...(isSilent ? [] : [textMessage("assistant", text)]),
    ...calls,
  ];
}

function parseCall(call: FieldReader): FunctionCallItem {
  const type = call.oneOf("type", ["function", "custom"]) ?? "function";
  const fields = call.object(type) ?? call.missing(type);
  const [field, text] =
    type === "function"
      ? ["arguments", fields.string("arguments") ?? ""]
      : ["input", JSON.stringify({ input: fields.requiredString("input") })];
  return {
    type: "function_call",
    call_id: call.requiredString("id"),
    name: fields.requiredString("name"),
    arguments: checkTextSize(text, fields.pathOf(field)),
  };
}

function parseToolResult(message: FieldReader, callIds: ReadonlySet<string>): InputItem {
  const callId = message.requiredString("tool_call_id");
  if (!callIds.has(callId)) {
    throw message.invalid("tool_call_id", `answers no earlier tool call: ${quote(callId)}`);
  }
  return { type: "function_call_output", call_id: callId, output: contentText(message) ?? "" };
}

/** undefined: no content. Text parts are one text, as templates read it. */
function contentText(message: FieldReader): string | undefined {
  const value = message.value("content");
  const path = message.pathOf("content");
  if (value === undefined) return undefined;
  if (typeof value === "string") return checkTextSize(value, path);
  if (!Array.isArray(value)) throw invalidType(path, "a string or an array", value);
  const texts = value.map((part, index) => partText(new FieldReader(part, `${path}[${index}]`)));
  return checkTextSize(texts.join(""), path);
}

function partText(part: FieldReader): string {
  const type = part.requiredString("type");
  switch (type) {
    case "text":
      return part.requiredString("text");
    case "refusal":
      return part.requiredString("refusal");
    case "image_url":
    case "input_audio":
    case "file":
      throw unsupportedContent(part.path, type);
    default:
      throw part.invalid("type", `has no known content type: ${quote(type)}`);
  }
}
