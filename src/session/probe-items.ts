/** Made-up tools and items, to see what a template does with a conversation of some shape. */
import type { ContextItem, FunctionTool, Role } from "../protocol/responses-types.ts";

export const SHORT_TOOL = probeTool("probe", null, null);
export const LONG_TOOL = probeTool("another_probe", "It probes.", {
  type: "object",
  properties: { city: { type: "string", description: "A city." }, days: { type: "integer" } },
  required: ["city"],
});

function probeTool(
  name: string,
  description: string | null,
  parameters: FunctionTool["parameters"],
): FunctionTool {
  return { type: "function", name, description, parameters, strict: false, path: "tools" };
}

export function say(role: Role, text: string): ContextItem {
  const type = role === "assistant" ? "output_text" : "input_text";
  return { type: "message", role, content: [{ type, text }] };
}

/** A call and its result. */
export function probeCall(call_id: string): readonly [ContextItem, ContextItem] {
  return [
    { type: "function_call", call_id, name: SHORT_TOOL.name, arguments: '{"days":1}' },
    { type: "function_call_output", call_id, output: "A probe result." },
  ];
}
