/**
 * From a validated request to a turn that can run: finds the parent, gathers the effective context and
 * the tools that hold in it, and builds the prompt. Everything that is refused here is refused before
 * `response.created`.
 */
import { randomId } from "../base/random-id.ts";
import { invalidRequest } from "../protocol/api-error.ts";
import { checkToolChoice } from "../protocol/parse-tool-choice.ts";
import type { ContextItem, InputItem, ResponsesRequest } from "../protocol/responses-types.ts";
import { configuredRequest } from "./configured-request.ts";
import { extendContext, openReasoning } from "./context-items.ts";
import { cacheOf } from "./continuation-cache.ts";
import { LaneIndex } from "./lane-index.ts";
import { type ChainState, isLane, type LaneState, type PromptHead } from "./lane-state.ts";
import { type ComposeOptions, PromptBuilder } from "./prompt-builder.ts";
import { itemsById, resolveReferences } from "./resolve-references.ts";
import { checkLogitBias } from "./sampling.ts";
import type { TurnContext } from "./session-types.ts";
import type { ResponseStore } from "./store/response-store.ts";
import { type ToolSet, toolSetOf } from "./tool-set.ts";
import { type BuildContext, fitContext } from "./truncate-context.ts";
import type { Turn, TurnDependencies } from "./turn.ts";

export interface PlannedTurn {
  readonly turn: Turn;
  readonly dependencies: TurnDependencies;
  /** Builds the prompt of other items of the same request. */
  readonly build: BuildContext;
}

export class TurnPlanner {
  readonly #dependencies: TurnDependencies;
  readonly #store: ResponseStore;
  readonly #prompts: PromptBuilder | undefined;
  readonly #lanes: LaneIndex;

  constructor(dependencies: TurnDependencies, store: ResponseStore, options: ComposeOptions) {
    const { textModel, template } = dependencies;
    this.#dependencies = dependencies;
    this.#store = store;
    this.#prompts = template && new PromptBuilder(textModel, template, options);
    this.#lanes = new LaneIndex((lane) => this.#prompts?.isOutputSpelled(lane) ?? false);
  }

  /** For clients that send their whole history. */
  remember({ parent, prompt }: Turn, lane: LaneState): void {
    this.#lanes.put(lane, prompt.numKeptTokens > 0 ? parent : undefined);
  }

  close(): void {
    this.#lanes.clear();
  }

  /** @throws {ApiError} previous_response_not_found, invalid_value, unsupported_parameter */
  async plan(received: ResponsesRequest, context: TurnContext): Promise<PlannedTurn> {
    const { endpoint } = this.#dependencies;
    const prompts = this.#requirePrompts();
    checkLogitBias(received, endpoint.info.vocab);
    const chain = await this.#resolveParent(received, context);
    const request = configuredRequest(received, chain?.items ?? []);
    const allItems = await this.#contextOf(request.input, context, chain);
    const tools = toolSetOf(request.callableTools, allItems);
    checkToolChoice(request.toolChoice, tools.callable);
    const newHead = this.#headOf(request, tools, chain);
    const lane = chain && isLane(chain) ? chain : undefined;
    const found = lane ? undefined : this.#lanes.find(context.tenant, newHead, allItems);
    const parent = lane ?? found;
    const head = found ? { ...newHead, date: found.head.date } : newHead;
    const build = buildUnder(prompts, head, request, context, parent);
    const built = await fitContext(request, allItems, endpoint.info.context, build);
    const turn: Turn = {
      responseId: randomId("resp"),
      request: { ...request, callableTools: tools.callable },
      context,
      ...built,
      parent,
      parentUse: found ? useOfFound(found) : useOnLane(lane, context),
      continuesText: false,
      logprobScope: "text",
      isContinuable: true,
    };
    return { turn, dependencies: this.#dependencies, build };
  }

  #requirePrompts(): PromptBuilder {
    if (this.#prompts) return this.#prompts;
    const { modelId } = this.#dependencies;
    const message = `the model "${modelId}" has no chat template: only /v1/completions works`;
    throw invalidRequest("unsupported_parameter", message, "model");
  }

  /** The date of a chain is that of its first turn: another one would change the head. */
  #headOf(
    { instructions, reasoningEffort }: ResponsesRequest,
    tools: ToolSet,
    chain: ChainState | undefined,
  ): PromptHead {
    const { clock } = this.#dependencies;
    const date = chain?.head.date ?? new Date(clock.unixSeconds() * 1000);
    return { instructions, tools: tools.head, date, reasoningEffort };
  }

  async #contextOf(
    input: readonly InputItem[],
    context: TurnContext,
    chain: ChainState | undefined,
  ): Promise<readonly ContextItem[]> {
    const { sealedReasoning } = this.#dependencies;
    const known = await this.#resolveItems(input, context, chain);
    const opened = openReasoning(known, (blob) => sealedReasoning.open(context.tenant, blob));
    return extendContext(chain?.items ?? [], opened);
  }

  async #resolveParent(
    request: ResponsesRequest,
    context: TurnContext,
  ): Promise<ChainState | undefined> {
    const id = request.previousResponseId;
    if (id === null) return undefined;
    const parent = cacheOf(context)?.get(id) ?? (await this.#store.chain(context.tenant, id));
    if (parent) return parent;
    throw invalidRequest(
      "previous_response_not_found",
      `Previous response with id '${id}' not found.`,
      "previous_response_id",
    );
  }

  /** References to items of this conversation, of the socket's others and of stored responses. */
  #resolveItems(input: readonly InputItem[], context: TurnContext, chain: ChainState | undefined) {
    return resolveReferences(
      input,
      async (ids) =>
        new Map([
          ...(await this.#store.findItems(context.tenant, ids)),
          ...(cacheOf(context)?.findItems(ids) ?? []),
          ...itemsById([chain?.items ?? []], ids),
        ]),
    );
  }
}

/** On its own lane a turn advances the parent's sequence; from another lane it branches off. */
function useOnLane(lane: LaneState | undefined, { connection, streamId }: TurnContext) {
  const isOtherLane = connection !== undefined && lane?.streamId !== streamId;
  return isOtherLane ? "branch" : "advance";
}

/** A lane that somebody else can go on from stays where it is. */
function useOfFound({ sequence }: LaneState) {
  return sequence.isShared ? "branch" : "advance";
}

/** Which tools stand in the head depends on what the items begin with. */
function buildUnder(
  prompts: PromptBuilder,
  wholeHead: PromptHead,
  { generate, callableTools }: ResponsesRequest,
  { tenant }: TurnContext,
  parent: LaneState | undefined,
): BuildContext {
  return async (items) => {
    const head = { ...wholeHead, tools: toolSetOf(callableTools, items).head };
    const context = { tenant, head, items, parent, addGenerationPrompt: generate };
    return { head, items, prompt: await prompts.build(context) };
  };
}
