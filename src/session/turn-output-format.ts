/** In which format the output of a turn has to be read: the template's, with the tools of the request. */
import { isJsonObject } from "../base/json-object.ts";
import type { CallableTool } from "../protocol/responses-types.ts";
import type { OfferedTool, OutputFormat } from "../text/output/output-format.ts";
import { startOfThinking } from "../text/output/thinking-formats.ts";
import type { ChatTemplate } from "../text/text-types.ts";
import type { Turn } from "./turn.ts";

export function outputFormatOf(
  { request, prompt }: Pick<Turn, "request" | "prompt">,
  { toolFormat, thinkingFormat }: Pick<ChatTemplate, "toolFormat" | "thinkingFormat">,
): OutputFormat | undefined {
  const tools = offeredTools(request);
  if (tools.length === 0 && thinkingFormat === undefined) return undefined;
  return {
    ...(tools.length > 0 && { calls: { format: toolFormat, tools } }),
    ...(thinkingFormat !== undefined && {
      thinking: { format: thinkingFormat, start: startOfThinking(thinkingFormat, prompt.text) },
    }),
  };
}

/** Those that the request allows to be called. */
function offeredTools({ callableTools, toolChoice }: Turn["request"]): readonly OfferedTool[] {
  const { mode, names } = toolChoice;
  if (mode === "none") return [];
  const allowed = callableTools.filter(({ name }) => names?.includes(name) ?? true);
  return allowed.map((tool) => {
    const textParameters = textParametersOf(tool);
    return { name: tool.name, ...(textParameters.length > 0 && { textParameters }) };
  });
}

/** Parameters that can be nothing but strings. */
function textParametersOf(tool: CallableTool): readonly string[] {
  if (tool.type === "custom") return ["input"];
  const { parameters } = tool;
  if (!isJsonObject(parameters) || !isJsonObject(parameters.properties)) return [];
  const properties = Object.entries(parameters.properties);
  return properties.filter(([, property]) => isTextSchema(property)).map(([name]) => name);
}

function isTextSchema(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  if (schema.type !== undefined) return schema.type === "string";
  const values = "const" in schema ? [schema.const] : schema.enum;
  return Array.isArray(values) && values.length > 0 && values.every((v) => typeof v === "string");
}
