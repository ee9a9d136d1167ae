/**
 * The effective context of a response: what its parent had, the parent's output, the new input.
 */
import { invalidRequest } from "../protocol/api-error.ts";
import { builtInArguments, builtInName } from "../protocol/built-in-calls.ts";
import { reasoningText } from "../protocol/reasoning-text.ts";
import { quote } from "../protocol/field-reader.ts";
import type {
  ConfigurationItem,
  ContextItem,
  FunctionCallItem,
  OutputItem,
  ResolvedItem,
  ToolDefinitionsItem,
} from "../protocol/responses-types.ts";

/**
 * Parent's items and the new ones behind them. An item whose id is already there is used once.
 * @throws {ApiError} invalid_value for a call output without its call
 */
export function extendContext(
  parentItems: readonly ContextItem[],
  input: readonly ResolvedItem[],
): readonly ContextItem[] {
  const items = [...parentItems];
  const ids = new Set(parentItems.map((item) => item.id));
  const callIds = new Map(parentItems.filter(isCall).flatMap(namesOfCall));
  for (const [idx, item] of input.entries()) {
    if (
      item.type === "sealed_reasoning" ||
      item.type === "ignored" ||
      (item.id !== undefined && ids.has(item.id))
    )
      continue;
    ids.add(item.id);
    if (isCall(item)) for (const [name, callId] of namesOfCall(item)) callIds.set(name, callId);
    items.push(isAnswer(item) ? { ...item, call_id: answeredCall(item, callIds, idx) } : item);
  }
  return items;
}

/**
 * What stays of an item where the past of a conversation goes: tools and settings hold on. The call that
 * found tools goes with the past; what it found can still be called.
 */
export function lastingPart(
  item: ContextItem,
): ToolDefinitionsItem | ConfigurationItem | undefined {
  if (item.type === "additional_tools" || item.type === "configuration_update") return item;
  if (item.type !== "tool_search_output") return undefined;
  const tools = item.tools.map(({ isDeferred: _, ...tool }) => tool);
  return { type: "additional_tools", tools };
}

/** Outputs name the call that they answer by its `call_id`; that of a local shell by the item's id. */
function namesOfCall({ id, call_id }: FunctionCallItem): readonly (readonly [string, string])[] {
  return id === undefined
    ? [[call_id, call_id]]
    : [
        [id, call_id],
        [call_id, call_id],
      ];
}

type Answer = Extract<ContextItem, { call_id?: string }> & { readonly call_id: string };

function isAnswer(item: ContextItem): item is Answer {
  return item.type !== "function_call" && "call_id" in item;
}

function answeredCall(
  { call_id }: Answer,
  callIds: ReadonlyMap<string, string>,
  idx: number,
): string {
  const callId = callIds.get(call_id);
  if (callId !== undefined) return callId;
  throw invalidRequest(
    "invalid_value",
    `no call with call_id ${quote(call_id)} comes before this output`,
    `input[${idx}].call_id`,
  );
}

/** Reasoning that this server sealed for the tenant is read again; of other reasoning, its summary. */
export function openReasoning(
  input: readonly ResolvedItem[],
  open: (blob: string) => string | undefined,
): readonly ResolvedItem[] {
  return input.map((item) => {
    if (item.type !== "sealed_reasoning") return item;
    const { id, sealed, summary } = item;
    const text = open(sealed) ?? summary;
    if (text === "") return { type: "ignored" };
    return { type: "reasoning", ...(id !== undefined && { id }), text };
  });
}

/** Output as the next turn's history; what a compaction left is in the context already. */
export function outputToInput(output: readonly OutputItem[]): readonly ContextItem[] {
  return output.flatMap((item) => {
    if (item.type === "compaction") return [];
    if (item.type === "function_call") {
      const { status: _, ...call } = item;
      return call;
    }
    if (item.type === "custom_tool_call") {
      const { status: _, input, ...call } = item;
      return { ...call, type: "function_call", arguments: JSON.stringify({ input }) };
    }
    if (item.type === "reasoning") {
      return { id: item.id, type: item.type, text: reasoningText(item) };
    }
    if (item.type !== "message") {
      const { id, call_id } = item;
      const name = builtInName(item.type);
      return { id, type: "function_call", call_id, name, arguments: builtInArguments(item) };
    }
    const content = item.content.map(({ type, text }) => ({ type, text }));
    return { id: item.id, type: item.type, role: item.role, content };
  });
}

/** The same items, and maybe more behind them. */
export function isExtension(
  items: readonly ContextItem[],
  parentItems: readonly ContextItem[],
): boolean {
  return parentItems.every((item, index) => item === items[index]);
}

export function isUserMessage(item: ContextItem | undefined): boolean {
  return item?.type === "message" && item.role === "user";
}

export function isCall(item: ContextItem): item is FunctionCallItem {
  return item.type === "function_call";
}
