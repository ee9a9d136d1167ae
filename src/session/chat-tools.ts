/** Tools as templates show them in the head, and as text where they are defined later. */
import type {
  CallableTool,
  ConfigurationItem,
  CustomTool,
  ContextItem,
  ToolDefinitionsItem,
} from "../protocol/responses-types.ts";
import type { ChatTool } from "../text/text-types.ts";
import { definesTools, lateDefinitions } from "./tool-set.ts";

const LATE_TOOLS_LINE = "These functions can be called from here on:";
const NO_TOOLS_LINE = "No functions were found.";

export type SpokenItem = Exclude<ContextItem, ToolDefinitionsItem | ConfigurationItem>;

/**
 * What the model reads. Definitions of tools are the result of the search that found them, else a
 * developer message in their place; those of the head are shown there. Settings are not read.
 */
export function spokenItems(
  head: readonly CallableTool[],
  items: readonly ContextItem[],
): readonly SpokenItem[] {
  const late = new Map(lateDefinitions(head, items).map(({ item, shown }) => [item, shown]));
  return items.flatMap((item): SpokenItem | readonly SpokenItem[] => {
    if (item.type === "configuration_update") return [];
    if (!definesTools(item)) return item;
    const shown = late.get(item);
    return shown === undefined ? [] : spokenDefinitions(item, shown);
  });
}

function spokenDefinitions(
  { call_id }: ToolDefinitionsItem,
  shown: readonly CallableTool[],
): SpokenItem {
  const text = definitionsText(shown);
  return call_id === undefined
    ? { type: "message", role: "developer", content: [{ type: "input_text", text }] }
    : { type: "function_call_output", call_id, output: text };
}

function definitionsText(tools: readonly CallableTool[]): string {
  if (tools.length === 0) return NO_TOOLS_LINE;
  const lines = toChatTools(tools).map((tool) => JSON.stringify(tool));
  return [LATE_TOOLS_LINE, ...lines].join("\n");
}

export function toChatTools(tools: readonly CallableTool[]): readonly ChatTool[] {
  return tools.map((tool) => {
    const { name, description } = tool;
    const parameters = tool.type === "custom" ? customParameters(tool) : tool.parameters;
    return {
      type: "function",
      function: {
        name,
        ...(description === null ? {} : { description }),
        ...(parameters == null ? {} : { parameters }),
      },
    };
  });
}

/** Models call with JSON arguments: a free-form tool has one, its input. */
function customParameters({ format }: CustomTool): unknown {
  const description =
    format.type === "grammar"
      ? `Free text that this ${format.syntax} grammar derives:\n${format.definition}`
      : "Free text.";
  return {
    type: "object",
    properties: { input: { type: "string", description } },
    required: ["input"],
    additionalProperties: false,
  };
}
