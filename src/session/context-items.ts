/**
 * The effective context of a response: what its parent had, the parent's output, the new input.
 */
import { invalidRequest } from "../protocol/api-error.ts";
import type { InputItem, OutputItem } from "../protocol/responses-types.ts";

/**
 * Parent's items and the new ones behind them. An item whose id is already there is used once.
 * @throws {ApiError} invalid_value for a call output without its call
 */
export function extendContext(
  parentItems: readonly InputItem[],
  input: readonly InputItem[],
): readonly InputItem[] {
  const items = [...parentItems];
  const ids = new Set(parentItems.map((item) => item.id));
  const callIds = new Set(parentItems.filter(isCall).map((item) => item.call_id));
  for (const [idx, item] of input.entries()) {
    if (item.id !== undefined && ids.has(item.id)) continue;
    if (item.type === "function_call") callIds.add(item.call_id);
    if (item.type === "function_call_output" && !callIds.has(item.call_id)) {
      throw invalidRequest(
        "invalid_value",
        `no function_call with call_id "${item.call_id}" comes before this output`,
        `input[${idx}].call_id`,
      );
    }
    ids.add(item.id);
    items.push(item);
  }
  return items;
}

/** Output as the next turn's history. */
export function outputToInput(output: readonly OutputItem[]): readonly InputItem[] {
  return output.map((item) => {
    if (item.type === "function_call") {
      const { status: _, ...call } = item;
      return call;
    }
    if (item.type === "custom_tool_call") {
      const { status: _, input, ...call } = item;
      return { ...call, type: "function_call", arguments: JSON.stringify({ input }) };
    }
    if (item.type === "reasoning") {
      const text = item.content.map((part) => part.text).join("");
      return { id: item.id, type: item.type, text };
    }
    const content = item.content.map(({ type, text }) => ({ type, text }));
    return { id: item.id, type: item.type, role: item.role, content };
  });
}

function isCall(item: InputItem): item is Extract<InputItem, { type: "function_call" }> {
  return item.type === "function_call";
}
