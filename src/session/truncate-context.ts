/**
 * `truncation: "auto"`: the oldest items go until the prompt fits, whole ones, a call together with its
 * output. The head stays: what the first system turn is made of; so do tools and settings.
 */
import { ApiError } from "../protocol/api-error.ts";
import type { ContextItem, ResponsesRequest } from "../protocol/responses-types.ts";
import { headItems } from "./chat-messages.ts";
import { isUserMessage, lastingPart } from "./context-items.ts";
import type { PromptHead } from "./lane-state.ts";
import type { Prompt } from "./prompt-builder.ts";

export interface BuiltContext {
  readonly head: PromptHead;
  readonly items: readonly ContextItem[];
  readonly prompt: Prompt;
}

export type BuildContext = (items: readonly ContextItem[]) => Promise<BuiltContext>;

/** Of the context, for the answer to a request that does not say how long it may be. */
const ANSWER_PART = 1 / 8;
/** Dropping more of the conversation than this for one answer helps nobody. */
const MAX_ANSWER_PART = 1 / 2;

/** The context as it is, or, where the request allows it, as much of it as fits with an answer. */
export async function fitContext(
  { truncation, maxOutputTokens }: Pick<ResponsesRequest, "truncation" | "maxOutputTokens">,
  items: readonly ContextItem[],
  contextTokens: number,
  build: BuildContext,
): Promise<BuiltContext> {
  const whole = await build(items);
  if (truncation === "disabled" || whole.prompt.tokens.length < contextTokens) return whole;
  const answerTokens = Math.min(
    maxOutputTokens ?? contextTokens * ANSWER_PART,
    contextTokens * MAX_ANSWER_PART,
  );
  const fitting = await truncateContext(items, contextTokens - answerTokens, build);
  return fitting ?? whole;
}

/**
 * Drops as little as it can, and then up to the next user message, with which a conversation begins.
 * undefined: not even the last item fits.
 */
export async function truncateContext(
  items: readonly ContextItem[],
  maxTokens: number,
  build: BuildContext,
): Promise<BuiltContext | undefined> {
  const order = droppableOf(items);
  const attempt = async (numDropped: number): Promise<BuiltContext | undefined> => {
    const built = await contextOrNone(withoutOldest(items, order, numDropped), build);
    return built && built.prompt.tokens.length <= maxTokens ? built : undefined;
  };
  let [tooFew, enough] = [0, order.length - 1];
  let fitting = await attempt(enough);
  if (!fitting) return undefined;
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2);
    const found = await attempt(middle);
    if (found) [fitting, enough] = [found, middle];
    else tooFew = middle;
  }
  const atUser = order.findIndex((index, rank) => rank >= enough && isUserMessage(items[index]));
  return (atUser === -1 ? undefined : await attempt(atUser)) ?? fitting;
}

/** Indexes of what may go, oldest first. */
function droppableOf(items: readonly ContextItem[]): readonly number[] {
  const head = new Set<ContextItem>(headItems(items));
  return [...items.keys()].filter((index) => {
    const item = items[index];
    return item && lastingPart(item) !== item && !head.has(item);
  });
}

function withoutOldest(
  items: readonly ContextItem[],
  order: readonly number[],
  numDropped: number,
): readonly ContextItem[] {
  const dropped = new Set(order.slice(0, numDropped));
  const kept = items.filter((_item, index) => !dropped.has(index));
  const calls = new Set(kept.map((item) => (item.type === "function_call" ? item.call_id : "")));
  return items.flatMap((item, index) => {
    const stays = !dropped.has(index) && hasCall(item, calls);
    return stays ? item : (lastingPart(item) ?? []);
  });
}

/** Or answers none. */
function hasCall(item: ContextItem, calls: ReadonlySet<string>): boolean {
  return !("call_id" in item) || item.call_id === undefined || calls.has(item.call_id);
}

/** Templates may refuse a conversation that begins in the middle of a turn. */
async function contextOrNone(
  items: readonly ContextItem[],
  build: BuildContext,
): Promise<BuiltContext | undefined> {
  try {
    return await build(items);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
