/**
 * Compaction: the model itself sums the conversation up, in a turn of its own whose prompt continues
 * the conversation, so that little of it is computed again. The summary then stands for the past, in the
 * answer to the same request or in the requests that follow.
 */
import { randomId } from "../base/random-id.ts";
import { textMessage } from "../protocol/parse-items.ts";
import { reasoningText } from "../protocol/reasoning-text.ts";
import type {
  ContextItem,
  MessageItem,
  ResponseObject,
  Usage,
} from "../protocol/responses-types.ts";
import {
  type CompactionPlan,
  compactedItems,
  isWorthCompacting,
  keptMessages,
  planCompaction,
} from "./compacted-items.ts";
import type { ResponseEmitter } from "./response-emitter.ts";
import { runTurn } from "./run-turn.ts";
import { type BuildContext, fitContext } from "./truncate-context.ts";
import {
  emitterOf,
  laneOf,
  liveSequenceOf,
  type Turn,
  type TurnDependencies,
  type TurnOutcome,
} from "./turn.ts";

const MAX_SUMMARY_TOKENS = 1024;
/** Of the context, so that conversation and summary both fit. */
const MAX_SUMMARY_PART = 1 / 4;
/** Characters of kept messages for each token of the context: an eighth of it at four a token. */
const KEPT_CHARS_PER_TOKEN = 1 / 2;
/** Characters of a current turn for each token of the threshold: half of it. */
const CURRENT_CHARS_PER_TOKEN = 2;

const INSTRUCTION =
  "Summarize the conversation above for an assistant who will continue it and sees nothing else of " +
  "it. Keep the task and its constraints, decisions, names, facts and results that still matter, and " +
  "what is left to do. Write plain text and call no tools.";

interface Compacted {
  readonly items: readonly ContextItem[];
  readonly kept: readonly MessageItem[];
  readonly usage: Usage;
}

/** The compaction is the whole answer. */
export async function runCompaction(
  turn: Turn,
  build: BuildContext,
  dependencies: TurnDependencies,
  emitter: ResponseEmitter,
  signal: AbortSignal,
): Promise<TurnOutcome & { readonly kept: readonly MessageItem[] }> {
  const plan = { past: turn.items, current: [] };
  const compacted = await compact(turn, plan, build, dependencies, emitter, signal);
  if ("ended" in compacted) return { response: compacted.ended, lane: undefined, kept: [] };
  const { items, usage, kept } = compacted;
  const response = emitter.completedUnanswered(usage);
  const lane = laneOf(turn, {
    items,
    tokens: turn.prompt.tokens,
    generation: "cut", // the tokens are those of the conversation before
    sequence: liveSequenceOf(turn, dependencies.endpoint, undefined),
  });
  return { response, lane, kept };
}

/** Compacts a context that is longer than the request wants it, then answers. */
export async function compactAndRun(
  turn: Turn,
  build: BuildContext,
  dependencies: TurnDependencies,
  emitter: ResponseEmitter,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const threshold = turn.request.compactThreshold ?? Number.POSITIVE_INFINITY;
  if (turn.prompt.tokens.length <= threshold) return runTurn(turn, dependencies, emitter, signal);
  const plan = planCompaction(turn.items, threshold * CURRENT_CHARS_PER_TOKEN);
  if (!isWorthCompacting(plan)) return runTurn(turn, dependencies, emitter, signal);
  const compacted = await compact(turn, plan, build, dependencies, emitter, signal);
  if ("ended" in compacted) return { response: compacted.ended, lane: undefined };
  const { items, usage } = compacted;
  const answering = { ...turn, ...(await build(items)), parent: undefined, earlierUsage: usage };
  return runTurn(answering, dependencies, emitter, signal);
}

async function compact(
  turn: Turn,
  plan: CompactionPlan,
  build: BuildContext,
  dependencies: TurnDependencies,
  emitter: ResponseEmitter,
  signal: AbortSignal,
): Promise<Compacted | { readonly ended: ResponseObject }> {
  emitter.compacting();
  try {
    const written = await summarize(turn, plan.past, build, dependencies, signal);
    const { status, error, usage } = written;
    if (status === "in_progress") return { ended: emitter.abandoned() };
    if (status === "cancelled") return { ended: emitter.cancelled(usage ?? undefined) };
    if (error || !usage) return { ended: failed(emitter, error) };
    const text = textOf(written);
    const { id } = emitter.compacted(text);
    const contextTokens = dependencies.endpoint.info.context;
    const kept = keptMessages(plan.past, contextTokens * KEPT_CHARS_PER_TOKEN);
    return { items: compactedItems(plan, kept, { id, text }), kept, usage };
  } catch (error) {
    emitter.abandoned();
    throw error;
  }
}

async function summarize(
  turn: Turn,
  past: readonly ContextItem[],
  build: BuildContext,
  dependencies: TurnDependencies,
  signal: AbortSignal,
): Promise<ResponseObject> {
  const contextTokens = dependencies.endpoint.info.context;
  const maxOutputTokens = Math.min(
    MAX_SUMMARY_TOKENS,
    Math.floor(contextTokens * MAX_SUMMARY_PART),
  );
  const request = {
    ...turn.request,
    toolChoice: { mode: "none" as const },
    textFormat: { type: "text" as const },
    truncation: "auto" as const,
    stop: [],
    topLogprobs: undefined,
    maxOutputTokens,
  };
  const asked = [...past, textMessage("user", INSTRUCTION)];
  const context = await fitContext(request, asked, contextTokens - maxOutputTokens, build);
  const { grammar: _, ...plain } = turn;
  const summaryTurn: Turn = {
    ...plain,
    ...context,
    request,
    responseId: randomId("resp"),
    context: { ...turn.context, receivedBytes: 0 },
    isContinuable: false,
  };
  const emitter = emitterOf(summaryTurn, dependencies, ignore);
  return (await runTurn(summaryTurn, dependencies, emitter, signal)).response;
}

function failed(emitter: ResponseEmitter, error: ResponseObject["error"]): ResponseObject {
  const { code, message } = error ?? { code: "server_error", message: "The summary failed." };
  return emitter.failed(code, message);
}

/** A model that only thinks has at least thought about it. */
function textOf({ output }: ResponseObject): string {
  const messages = output.flatMap((item) => (item.type === "message" ? item.content : []));
  const thoughts = output.map((item) => (item.type === "reasoning" ? reasoningText(item) : ""));
  const texts = [messages.map(({ text }) => text).join(""), thoughts.join("")];
  return texts.map((text) => text.trim()).find((text) => text !== "") ?? "(nothing was noted)";
}

function ignore(): void {
  // The summary is an item of the response that asked for it.
}
