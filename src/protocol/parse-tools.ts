/**
 * Tool definitions of a Responses request. Functions, custom tools, the members of namespaces and the
 * tools that the API knows by type are offered to the model; hosted tools are accepted and left out,
 * because real clients always send a mix and must not fail over it.
 */
import { invalidRequest } from "./api-error.ts";
import { isBuiltIn, parseBuiltIn } from "./built-in-tools.ts";
import { FieldReader, quote } from "./field-reader.ts";
import { MAX_TOOLS } from "./request-limits.ts";
import type { CallableTool, CustomTool, FunctionTool } from "./responses-types.ts";
import type { RepeatedFields } from "./repeated-fields.ts";
import { flatToolName } from "./tool-names.ts";

const TOOL_NAME = /^[A-Za-z0-9_-]{1,128}$/;

export interface ParsedTools {
  readonly callableTools: readonly CallableTool[];
  /** As sent, for the echo. */
  readonly tools: readonly unknown[];
}

/** @param repeated knows the arrays that came before */
export function parseTools(body: FieldReader, repeated?: RepeatedFields): ParsedTools {
  return repeatedTools(body, repeated, (tools) => parseToolArray(tools, body.pathOf("tools")));
}

/** The request's tools, parsed only when they are new to `repeated`. */
export function repeatedTools(
  body: FieldReader,
  repeated: RepeatedFields | undefined,
  parse: (tools: readonly unknown[]) => ParsedTools,
): ParsedTools {
  const tools = toolArray(body);
  return repeated ? repeated.parsedTools(tools, () => parse(tools)) : parse(tools);
}

function parseToolArray(tools: readonly unknown[], toolsPath: string): ParsedTools {
  const defined = parseDefinitions(tools, toolsPath);
  const seen = new Set<string>();
  for (const { name, path } of defined.filter(hasOwnName)) {
    checkNewName(seen, name, `${path}.name`);
  }
  // A client's own tool of that name takes the place of one that the API knows.
  const callableTools = defined.filter((tool) => hasOwnName(tool) || !seen.has(tool.name));
  return { callableTools: latestDefinitions(callableTools), tools };
}

function hasOwnName({ type }: CallableTool): boolean {
  return !isBuiltIn(type);
}

/** Of several definitions of one tool the last one counts, where the first one stands. */
export function latestDefinitions(tools: readonly CallableTool[]): readonly CallableTool[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return byName.size === tools.length ? tools : [...byName.values()];
}

/** What of an array of definitions can be called, members of namespaces one by one. */
export function parseDefinitions(tools: readonly unknown[], path: string): readonly CallableTool[] {
  const callable = tools.flatMap((tool, index) =>
    parseDefinition(new FieldReader(tool, `${path}[${index}]`)),
  );
  if (callable.length > MAX_TOOLS) throw tooManyTools(path, callable.length);
  return callable;
}

function parseDefinition(tool: FieldReader): readonly CallableTool[] {
  if (tool.requiredString("type") === "namespace") return parseNamespace(tool);
  const callable = parseCallable(tool);
  return callable === undefined ? [] : [callable];
}

function parseNamespace(namespace: FieldReader): readonly CallableTool[] {
  const name = toolName(namespace);
  const path = namespace.pathOf("tools");
  return (namespace.array("tools") ?? []).flatMap((value, index) => {
    const member = parseCallable(new FieldReader(value, `${path}[${index}]`));
    return member === undefined ? [] : [asMember(name, member)];
  });
}

function asMember(namespace: string, tool: CallableTool): CallableTool {
  const { name } = tool;
  return { ...tool, name: flatToolName(name, namespace), member: { namespace, name } };
}

/** undefined: nothing that the model can call here. */
function parseCallable(tool: FieldReader): CallableTool | undefined {
  switch (tool.requiredString("type")) {
    case "function":
      return parseFunction(tool);
    case "custom":
      return parseCustom(tool);
    default:
      return parseBuiltIn(tool);
  }
}

/** The array, bounded; empty when absent. */
function toolArray(body: FieldReader): readonly unknown[] {
  const tools = body.array("tools") ?? [];
  if (tools.length <= MAX_TOOLS) return tools;
  throw tooManyTools(body.pathOf("tools"), tools.length);
}

function tooManyTools(path: string, numTools: number): Error {
  const message = `${path} has ${numTools} entries, at most ${MAX_TOOLS} are accepted`;
  return invalidRequest("invalid_value", message, path);
}

/** A function's own fields: flat in Responses, under `function` in Chat Completions. */
export function parseFunction(tool: FieldReader): FunctionTool {
  tool.object("parameters");
  return {
    type: "function",
    name: toolName(tool),
    description: tool.string("description") ?? null,
    parameters: tool.value("parameters") ?? null,
    strict: tool.boolean("strict") ?? null,
    path: tool.path,
    ...deferralOf(tool),
  };
}

/** A custom tool's own fields: flat in Responses, under `custom` in Chat Completions. */
export function parseCustom(tool: FieldReader): CustomTool {
  return {
    type: "custom",
    name: toolName(tool),
    description: tool.string("description") ?? null,
    format: parseCustomFormat(tool.object("format")),
    path: tool.path,
    ...deferralOf(tool),
  };
}

function deferralOf(tool: FieldReader): Pick<CallableTool, "isDeferred"> {
  return tool.boolean("defer_loading") ? { isDeferred: true } : {};
}

function parseCustomFormat(format: FieldReader | undefined): CustomTool["format"] {
  if (format === undefined) return { type: "text" };
  const type = format.oneOf("type", ["text", "grammar"]) ?? format.missing("type");
  if (type === "text") return { type };
  // Chat Completions nests these two.
  const grammar = format.object("grammar") ?? format;
  return {
    type,
    syntax: grammar.oneOf("syntax", ["lark", "regex"]) ?? grammar.missing("syntax"),
    definition: grammar.requiredString("definition"),
  };
}

function toolName(tool: FieldReader): string {
  const name = tool.requiredString("name");
  if (TOOL_NAME.test(name)) return name;
  throw tool.invalid(
    "name",
    `must be 1 to 128 characters of A-Z, a-z, 0-9, _ and -; got ${quote(name)}`,
  );
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
