/**
 * Which tools a turn has. The head of the prompt has the request's own and those of an
 * `additional_tools` item that leads; every later item adds to what can be called, and the head stays
 * as it is, so that everything behind it stays computed.
 */
import { latestDefinitions } from "../protocol/parse-tools.ts";
import type {
  CallableTool,
  ContextItem,
  ToolDefinitionsItem,
} from "../protocol/responses-types.ts";

export interface ToolSet {
  /** Shown in the head. */
  readonly head: readonly CallableTool[];
  readonly callable: readonly CallableTool[];
}

export function toolSetOf(tools: readonly CallableTool[], items: readonly ContextItem[]): ToolSet {
  const leading = items[0]?.type === "additional_tools" ? items[0].tools : [];
  const inHead = latestDefinitions(joined(tools, leading));
  const head = shownTools(inHead, canSearch(inHead));
  const late = lateDefinitions(head, items).flatMap(({ shown }) => shown);
  return { head, callable: latestDefinitions(joined(head, late)) };
}

/** The same array where nothing is added: who compares heads sees that at once. */
function joined(tools: readonly CallableTool[], more: readonly CallableTool[]) {
  if (more.length === 0) return tools;
  return tools.length === 0 ? more : [...tools, ...more];
}

/** The first item belongs to the head of the prompt. */
export function leadsWithTools(items: readonly ContextItem[]): boolean {
  return items[0]?.type === "additional_tools";
}

export interface LateDefinitions {
  readonly item: ToolDefinitionsItem;
  readonly shown: readonly CallableTool[];
}

/** Behind the head, with what each item shows: tools that can be searched for are shown once found. */
export function lateDefinitions(
  head: readonly CallableTool[],
  items: readonly ContextItem[],
): readonly LateDefinitions[] {
  let isSearchable = canSearch(head);
  const late = items.filter(definesTools).slice(leadsWithTools(items) ? 1 : 0);
  return late.map((item) => {
    isSearchable ||= canSearch(item.tools);
    const isFound = item.type === "tool_search_output";
    return { item, shown: shownTools(item.tools, isSearchable && !isFound) };
  });
}

function shownTools(
  tools: readonly CallableTool[],
  isSearchable: boolean,
): readonly CallableTool[] {
  return isSearchable ? tools.filter(({ isDeferred }) => !isDeferred) : tools;
}

function canSearch(tools: readonly CallableTool[]): boolean {
  return tools.some(({ type }) => type === "tool_search");
}

export function definesTools(item: ContextItem): item is ToolDefinitionsItem {
  return item.type === "additional_tools" || item.type === "tool_search_output";
}
