/**
 * `tool_choice` of Responses and Chat Completions: whether tools may or must be called, and which.
 * Which tools there are is known when the context is: `checkToolChoice`. Pure.
 */
import { invalidRequest } from "./api-error.ts";
import { isBuiltIn } from "./built-in-tools.ts";
import { FieldReader, invalidType, quote } from "./field-reader.ts";
import type { CallableTool, NamedTool, ToolChoice } from "./responses-types.ts";
import { flatToolName } from "./tool-names.ts";

const MODES = ["auto", "none", "required"] as const;

export function parseToolChoice(body: FieldReader): ToolChoice {
  const value = body.value("tool_choice") ?? "auto";
  if (typeof value === "string") return parseMode(body, value);
  if (typeof value !== "object") {
    throw invalidType(body.pathOf("tool_choice"), "a string or an object", value);
  }
  const choice = new FieldReader(value, body.pathOf("tool_choice"));
  if (choice.requiredString("type") === "allowed_tools") return parseAllowed(choice);
  return { mode: "required", named: [parseNamed(choice)] };
}

/**
 * @param tools all that can be called
 * @throws {ApiError} for a choice that cannot be followed
 */
export function checkToolChoice(
  { mode, named = [] }: ToolChoice,
  tools: readonly CallableTool[],
): void {
  if (mode === "required" && tools.length === 0 && named.length === 0) {
    throw unfollowable("tool_choice is required, but there are no tools to call");
  }
  const missing = named.find(({ type, name }) =>
    tools.every((tool) => tool.type !== type || tool.name !== name),
  );
  if (missing === undefined) return;
  throw unfollowable(`tool_choice names ${quote(missing.name)}, which is not in tools`);
}

function unfollowable(message: string): Error {
  return invalidRequest("invalid_value", message, "tool_choice");
}

function parseMode(body: FieldReader, value: string): ToolChoice {
  const mode = MODES.find((candidate) => candidate === value);
  if (mode !== undefined) return { mode };
  throw body.invalid("tool_choice", `must be auto, none or required; got ${quote(value)}`);
}

/** Its fields are flat in Responses, under `allowed_tools` in Chat Completions. */
function parseAllowed(choice: FieldReader): ToolChoice {
  const fields = choice.object("allowed_tools") ?? choice;
  const mode = fields.oneOf("mode", ["auto", "required"]) ?? fields.missing("mode");
  const listed = fields.array("tools") ?? fields.missing("tools");
  const named = listed.map((entry, index) =>
    parseNamed(new FieldReader(entry, `${fields.pathOf("tools")}[${index}]`)),
  );
  if (named.length === 0) throw fields.invalid("tools", "must name at least one tool");
  return { mode, named: [...new Map(named.map((tool) => [tool.name, tool])).values()] };
}

function parseNamed(choice: FieldReader): NamedTool {
  const type = choice.requiredString("type");
  if (isBuiltIn(type)) return { type, name: type };
  if (type !== "function" && type !== "custom") {
    throw choice.invalid("type", `names tools that are not run here: ${quote(type)}`);
  }
  const fields = choice.object(type) ?? choice;
  const name = flatToolName(fields.requiredString("name"), fields.string("namespace"));
  return { type, name };
}
