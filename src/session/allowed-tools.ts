import type { CallableTool, ResponsesRequest } from "../protocol/responses-types.ts";

/** The tools that the request allows to be called. */
export function allowedTools({
  callableTools,
  toolChoice,
}: Pick<ResponsesRequest, "callableTools" | "toolChoice">): readonly CallableTool[] {
  const { mode, names } = toolChoice;
  if (mode === "none") return [];
  return callableTools.filter(({ name }) => names?.includes(name) ?? true);
}
