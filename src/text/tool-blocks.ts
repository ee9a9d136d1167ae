/** The text of tools, calls and results in the ChatML/Hermes form, as `chatml-tools.ts` renders it. */

import type { ChatTool } from "./text-types.ts";

export const CALL_OPEN = "<tool_call>";
export const CALL_CLOSE = "</tool_call>";

export function callBlock(name: string, args: string): string {
  return `${CALL_OPEN}\n{"name": "${name}", "arguments": ${args}}\n${CALL_CLOSE}`;
}

export function toolResponseBlock(result: string): string {
  return `<tool_response>\n${result}\n</tool_response>`;
}

export function toolListText(tools: readonly ChatTool[]): string {
  const lines = tools.map((tool) => JSON.stringify(tool));
  return (
    "# Tools\n\nYou may call these functions. Their signatures, one JSON object a line:\n<tools>\n" +
    `${lines.join("\n")}\n</tools>\n\nAnswer a call as JSON between ${CALL_OPEN} and ${CALL_CLOSE}.`
  );
}
