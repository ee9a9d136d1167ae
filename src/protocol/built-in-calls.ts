/**
 * Calls of built-in tools: the item that the client sees, and the JSON arguments that the model wrote
 * or reads. What says nothing (null, an empty environment, the one type of a local shell's action) is
 * no argument, so that an item has the same arguments whoever sends it. Pure.
 */
import type { JsonObject } from "../base/json-object.ts";
import type { BuiltInTool } from "./built-in-tools.ts";
import type { OutputBuiltInCall } from "./responses-types.ts";

/** The function that the model calls. */
export function builtInName(type: OutputBuiltInCall["type"]): BuiltInTool {
  return type.slice(0, -"_call".length) as BuiltInTool;
}

export type CallHead = Pick<OutputBuiltInCall, "id" | "call_id" | "status">;

/** @param args none: not known yet */
export function builtInCall(
  tool: BuiltInTool,
  head: CallHead,
  args: JsonObject = {},
): OutputBuiltInCall {
  switch (tool) {
    case "tool_search":
      return { ...head, type: "tool_search_call", execution: "client", arguments: args };
    case "local_shell":
      return {
        ...head,
        type: "local_shell_call",
        action: { env: {}, ...args, type: "exec", command: textsOf(args.command) },
      };
    case "shell":
      return {
        ...head,
        type: "shell_call",
        action: {
          timeout_ms: null,
          max_output_length: null,
          ...args,
          commands: textsOf(args.commands),
        },
      };
    case "apply_patch":
      return { ...head, type: "apply_patch_call", operation: args };
  }
}

/** The part of a call that says what to do. */
export type BuiltInCallFields =
  | { readonly type: "tool_search_call"; readonly arguments: JsonObject }
  | { readonly type: "local_shell_call" | "shell_call"; readonly action: JsonObject }
  | { readonly type: "apply_patch_call"; readonly operation: JsonObject };

/** What the model reads of a call, as JSON. */
export function builtInArguments(call: BuiltInCallFields): string {
  switch (call.type) {
    case "tool_search_call":
      return JSON.stringify(call.arguments);
    case "apply_patch_call":
      return JSON.stringify(saying(call.operation));
    case "shell_call":
      return JSON.stringify(saying(call.action));
    case "local_shell_call": {
      const { type: _, ...action } = saying(call.action);
      return JSON.stringify(action);
    }
  }
}

function saying(fields: JsonObject): JsonObject {
  const entries = Object.entries(fields);
  return Object.fromEntries(
    entries.filter(([name, value]) => value !== null && !isNoEnv(name, value)),
  );
}

function isNoEnv(name: string, value: unknown): boolean {
  return name === "env" && JSON.stringify(value) === "{}";
}

/** A model that no grammar holds may write one text instead of an array. */
function textsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String);
  return value === undefined ? [] : [String(value)];
}
