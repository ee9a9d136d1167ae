/** In which format the output of a turn has to be read: the template's, with the tools of the request. */
import type { CallableTool } from "../protocol/responses-types.ts";
import type {
  OfferedTool,
  OutputFormat,
  ThinkingFormat,
  ThinkingStart,
} from "../text/output/output-format.ts";
import { startOfThinking } from "../text/output/thinking-formats.ts";
import { textParameters } from "../text/output/tool-parameters.ts";
import type { ChatTemplate } from "../text/text-types.ts";
import { allowedTools } from "./allowed-tools.ts";
import type { Turn } from "./turn.ts";

type PromptEnding = Pick<Turn["prompt"], "ending">;

export function outputFormatOf(
  { request, prompt }: { readonly request: Turn["request"]; readonly prompt: PromptEnding },
  { toolFormat, thinkingFormat }: Pick<ChatTemplate, "toolFormat" | "thinkingFormat">,
): OutputFormat | undefined {
  const tools = offeredTools(request);
  if (tools.length === 0 && thinkingFormat === undefined) return undefined;
  return {
    ...(tools.length > 0 && { calls: { format: toolFormat, tools } }),
    ...(thinkingFormat !== undefined && {
      thinking: { format: thinkingFormat, start: thinkingStart(request, thinkingFormat, prompt) },
    }),
  };
}

function thinkingStart(
  { textFormat }: Turn["request"],
  format: ThinkingFormat,
  { ending }: PromptEnding,
): ThinkingStart {
  const start = startOfThinking(format, ending);
  return start === "closed" && textFormat.type !== "text" ? "bare" : start;
}

function offeredTools(request: Turn["request"]): readonly OfferedTool[] {
  return allowedTools(request).map((tool) => {
    const texts = textParametersOf(tool);
    return { name: tool.name, ...(texts.length > 0 && { textParameters: texts }) };
  });
}

function textParametersOf(tool: CallableTool): readonly string[] {
  return tool.type === "custom" ? ["input"] : textParameters(tool.parameters);
}
