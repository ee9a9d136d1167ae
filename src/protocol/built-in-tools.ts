/**
 * Tools that the API knows by type: searching for tools, shells, patches. To the model they are
 * functions, offered under the name of their type; their calls are items of their own. Pure.
 */
import type { JsonObject } from "../base/json-object.ts";
import type { FieldReader } from "./field-reader.ts";
import type { FunctionTool } from "./responses-types.ts";

export type BuiltInTool = Exclude<FunctionTool["type"], "function">;

const DEFINITIONS: Readonly<
  Record<BuiltInTool, { readonly description: string; readonly parameters: JsonObject }>
> = {
  tool_search: {
    description: "Searches for tools. The tools that are found can be called from then on.",
    parameters: objectOf(
      {
        query: { type: "string", description: "What the tool should do." },
        limit: { type: "integer", description: "Maximum number of tools to return." },
      },
      "query",
    ),
  },
  local_shell: {
    description: "Runs a command on the user's machine and returns its output.",
    parameters: objectOf(
      {
        command: {
          type: "array",
          items: { type: "string" },
          description: "The program and its arguments.",
        },
        timeout_ms: { type: "integer" },
        working_directory: { type: "string" },
        user: { type: "string" },
      },
      "command",
    ),
  },
  shell: {
    description: "Runs shell commands and returns their output.",
    parameters: objectOf(
      {
        commands: { type: "array", items: { type: "string" } },
        timeout_ms: { type: "integer" },
        max_output_length: { type: "integer" },
      },
      "commands",
    ),
  },
  apply_patch: {
    description: "Creates, updates or deletes a file.",
    parameters: objectOf(
      {
        type: { enum: ["create_file", "update_file", "delete_file"] },
        path: { type: "string" },
        diff: {
          type: "string",
          description: "V4A diff: lines begin with a space, + or -. Not for delete_file.",
        },
      },
      "type",
      "path",
    ),
  },
};

/** undefined: another type, or one that somebody else runs. */
export function parseBuiltIn(tool: FieldReader): FunctionTool | undefined {
  const type = tool.requiredString("type");
  if (!isBuiltIn(type) || isHosted(tool, type)) return undefined;
  const { description, parameters } = DEFINITIONS[type];
  tool.object("parameters");
  const isSearch = type === "tool_search";
  return {
    type,
    name: type,
    description: (isSearch && tool.string("description")) || description,
    parameters: (isSearch && tool.value("parameters")) || parameters,
    strict: null,
    path: tool.path,
  };
}

export function isBuiltIn(type: string): type is BuiltInTool {
  return Object.hasOwn(DEFINITIONS, type);
}

function isHosted(tool: FieldReader, type: BuiltInTool): boolean {
  if (type === "tool_search") return tool.string("execution") !== "client";
  const environment = tool.object("environment")?.string("type") ?? "local";
  return environment !== "local";
}

function objectOf(properties: JsonObject, ...required: readonly string[]): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}
