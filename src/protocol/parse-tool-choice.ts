/**
 * `tool_choice` of Responses and Chat Completions: whether tools may or must be called, and which.
 * Pure.
 */
import { invalidRequest } from "./api-error.ts";
import { FieldReader, invalidType, quote } from "./field-reader.ts";
import type { CallableTool, ToolChoice } from "./responses-types.ts";

const MODES = ["auto", "none", "required"] as const;
/** Kinds of tools that a choice can name; their definitions must be in the request. */
const NAMED_TYPES = ["function", "custom"] as const;

export function parseToolChoice(body: FieldReader, tools: readonly CallableTool[]): ToolChoice {
  const value = body.value("tool_choice") ?? "auto";
  if (typeof value === "string") return parseMode(body, value, tools);
  if (typeof value !== "object") {
    throw invalidType(body.pathOf("tool_choice"), "a string or an object", value);
  }
  const choice = new FieldReader(value, body.pathOf("tool_choice"));
  if (choice.requiredString("type") === "allowed_tools") return parseAllowed(choice, tools);
  return { mode: "required", names: [parseName(choice, tools)] };
}

function parseMode(body: FieldReader, value: string, tools: readonly CallableTool[]): ToolChoice {
  const mode = MODES.find((candidate) => candidate === value);
  if (mode === undefined) {
    throw body.invalid("tool_choice", `must be auto, none or required; got ${quote(value)}`);
  }
  if (mode === "required" && tools.length === 0) {
    throw body.invalid("tool_choice", "is required, but the request has no tools to call");
  }
  return { mode };
}

/** Its fields are flat in Responses, under `allowed_tools` in Chat Completions. */
function parseAllowed(choice: FieldReader, tools: readonly CallableTool[]): ToolChoice {
  const fields = choice.object("allowed_tools") ?? choice;
  const mode = fields.oneOf("mode", ["auto", "required"]) ?? fields.missing("mode");
  const listed = fields.array("tools") ?? fields.missing("tools");
  const names = listed.map((entry, index) =>
    parseName(new FieldReader(entry, `${fields.pathOf("tools")}[${index}]`), tools),
  );
  if (names.length === 0) throw fields.invalid("tools", "must name at least one tool");
  return { mode, names: [...new Set(names)] };
}

function parseName(choice: FieldReader, tools: readonly CallableTool[]): string {
  const type = choice.requiredString("type");
  const kind = NAMED_TYPES.find((candidate) => candidate === type);
  if (kind === undefined) {
    throw choice.invalid("type", `names tools that are not run here: ${quote(type)}`);
  }
  const name = (choice.object(kind) ?? choice).requiredString("name");
  if (tools.some((tool) => tool.type === kind && tool.name === name)) return name;
  throw invalidRequest(
    "invalid_value",
    `${choice.path} names ${quote(name)}, which is not in tools`,
    "tool_choice",
  );
}
