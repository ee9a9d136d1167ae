import type { CallableTool, ResponsesRequest } from "../protocol/responses-types.ts";

/** The tools that the request allows to be called. */
export function allowedTools({
  callableTools,
  toolChoice,
}: Pick<ResponsesRequest, "callableTools" | "toolChoice">): readonly CallableTool[] {
  const { mode, named } = toolChoice;
  if (mode === "none") return [];
  if (named === undefined) return callableTools;
  const names = new Set(named.map(({ name }) => name));
  return callableTools.filter(({ name }) => names.has(name));
}
