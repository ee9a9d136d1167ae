/**
 * Tool definitions and `tool_choice` of a Responses request. Only functions are offered to the
 * model; custom, namespace, tool_search and hosted tools are accepted and left out, because real
 * clients always send a mix and must not fail over it.
 */
import { invalidRequest } from "./api-error.ts";
import { FieldReader, invalidType, quote } from "./field-reader.ts";
import { MAX_TOOLS } from "./request-limits.ts";
import type { FunctionTool, ToolChoice } from "./responses-types.ts";

const FUNCTION_NAME = /^[A-Za-z0-9_-]{1,128}$/;

export interface ParsedTools {
  readonly functionTools: readonly FunctionTool[];
  /** As sent, for the echo. */
  readonly tools: readonly unknown[];
}

export function parseTools(body: FieldReader): ParsedTools {
  const tools = toolArray(body);
  const readers = tools.map((tool, index) => new FieldReader(tool, `tools[${index}]`));
  checkUniqueNames(readers);
  const functionTools = readers
    .filter((tool) => tool.requiredString("type") === "function")
    .map(parseFunction);
  return { functionTools, tools };
}

/** The array, bounded; empty when absent. */
export function toolArray(body: FieldReader): readonly unknown[] {
  const tools = body.array("tools") ?? [];
  if (tools.length <= MAX_TOOLS) return tools;
  throw body.invalid("tools", `has ${tools.length} entries, at most ${MAX_TOOLS} are accepted`);
}

/** A function's own fields: flat in Responses, under `function` in Chat Completions. */
export function parseFunction(tool: FieldReader): FunctionTool {
  const name = tool.requiredString("name");
  if (!FUNCTION_NAME.test(name)) {
    throw tool.invalid(
      "name",
      `must be 1 to 128 characters of A-Z, a-z, 0-9, _ and -; got ${quote(name)}`,
    );
  }
  tool.object("parameters");
  return {
    type: "function",
    name,
    description: tool.string("description") ?? null,
    parameters: tool.value("parameters") ?? null,
    strict: tool.boolean("strict") ?? null,
  };
}

const NAMED_TYPES: ReadonlySet<string> = new Set(["function", "custom", "namespace"]);

function checkUniqueNames(tools: readonly FieldReader[]): void {
  const seen = new Set<string>();
  for (const tool of tools) {
    if (!NAMED_TYPES.has(tool.requiredString("type"))) continue;
    checkNewName(seen, tool.requiredString("name"), tool.pathOf("name"));
  }
}

/** A second tool of the same name could not be told apart when it is called. */
export function checkNewName(seen: Set<string>, name: string, path: string): void {
  if (seen.has(name)) {
    throw invalidRequest(
      "invalid_value",
      `${path}: there is another tool named ${quote(name)}`,
      path,
    );
  }
  seen.add(name);
}

/**
 * "auto" and "none". A forced call needs constrained decoding, which this server does not have yet.
 */
export function parseToolChoice(body: FieldReader): ToolChoice {
  const value = body.value("tool_choice") ?? "auto";
  if (value === "auto" || value === "none") return value;
  if (value === "required") throw forcedChoice(body, "required");
  if (typeof value === "string") {
    throw body.invalid("tool_choice", `must be auto, none or required; got ${quote(value)}`);
  }
  if (typeof value !== "object") {
    throw invalidType(body.pathOf("tool_choice"), "a string or an object", value);
  }
  const choice = new FieldReader(value, body.pathOf("tool_choice"));
  throw forcedChoice(body, choice.requiredString("type"));
}

function forcedChoice(body: FieldReader, kind: string): Error {
  return body.unsupported(
    "tool_choice",
    `${quote(kind)} needs constrained decoding; use auto or none`,
  );
}
