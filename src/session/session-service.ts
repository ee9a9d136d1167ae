/**
 * The session: resolves a request's parent, builds its prompt, runs it, remembers the result. Knows
 * no socket (the gateway) and no kernel (the engine). Everything before `response.created` throws
 * ApiErrors; what follows is events.
 *
 * A parent is looked up in the connection's continuation cache, then in the response store. Failing
 * to continue on the parent's own lane evicts the parent: the client then sends its full history.
 */
import type { Clock } from "../base/clock.ts";
import { randomId } from "../base/random-id.ts";
import type { EngineEndpoint } from "../engine/endpoint.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { invalidRequest } from "../protocol/api-error.ts";
import { checkToolChoice } from "../protocol/parse-tool-choice.ts";
import type {
  ContextItem,
  InputItem,
  ResponseEvent,
  ResponseObject,
  ResponsesRequest,
} from "../protocol/responses-types.ts";
import type { ChatTemplate, TextModel } from "../text/text-types.ts";
import { ActiveResponses } from "./active-responses.ts";
import { configuredRequest } from "./configured-request.ts";
import { extendContext, openReasoning } from "./context-items.ts";
import { ContinuationCache } from "./continuation-cache.ts";
import { type ChainState, isLane, type LaneState } from "./lane-state.ts";
import { PromptBuilder, type RemoteComposer } from "./prompt-builder.ts";
import { promptText, rawPrompt } from "./raw-prompt.ts";
import type { ReasoningForm } from "./reasoning-items.ts";
import type { Echo } from "./response-object.ts";
import { ResponseDirectory } from "./response-directory.ts";
import { itemsById, resolveReferences } from "./resolve-references.ts";
import { type BuildPrompt, compactAndRun, runCompaction } from "./run-compaction.ts";
import { runTurn } from "./run-turn.ts";
import { runWarmup } from "./run-warmup.ts";
import { checkLogitBias } from "./sampling.ts";
import { SealedTexts } from "./sealed-texts.ts";
import type {
  CompactedConversation,
  CompletionTurn,
  ConnectionState,
  RunResponse,
  SessionService,
  TurnContext,
} from "./session-types.ts";
import type { ResponseArchive } from "./store/response-archive.ts";
import { DEFAULT_STORE_LIMITS, ResponseStore, type StoreLimits } from "./store/response-store.ts";
import type { StoredResponse } from "./store/stored-response.ts";
import { fitContext } from "./truncate-context.ts";
import { contextError } from "./turn-failure.ts";
import { toolSetOf } from "./tool-set.ts";
import { TurnGrammars } from "./turn-grammars.ts";
import { emitterOf, type Turn, type TurnDependencies, type TurnOutcome } from "./turn.ts";

export interface SessionOptions {
  readonly modelId: string;
  readonly textModel: TextModel;
  readonly endpoint: EngineEndpoint;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** How thinking is shown; default: raw. */
  readonly reasoningForm?: ReasoningForm;
  /** Default: http. */
  readonly echo?: Echo;
  /** Where stored responses outlive the process; default: nowhere. */
  readonly archive?: ResponseArchive;
  readonly storeLimits?: StoreLimits;
  /** For large prompts; default: they are composed on this thread. */
  readonly composer?: RemoteComposer;
  /** Hears of every failed run; default: a process warning. */
  readonly reportError?: (error: unknown) => void;
}

export function createSessionService(options: SessionOptions): SessionService {
  return new Session(options);
}

class Session implements SessionService {
  readonly modelId: string;
  readonly contextTokens: number;
  readonly #options: SessionOptions;
  readonly #prompts: PromptBuilder | undefined;
  readonly #grammars: TurnGrammars;
  readonly #store: ResponseStore;
  readonly #active = new ActiveResponses();
  readonly responses: ResponseDirectory;
  readonly #sealedReasoning = new SealedTexts("reasoning");
  readonly #shutdown = new AbortController();

  constructor(options: SessionOptions) {
    const { modelId, endpoint, textModel, clock, metrics } = options;
    this.modelId = modelId;
    this.contextTokens = endpoint.info.context;
    this.#options = options;
    const template = textModel.chatTemplate;
    this.#prompts = template && new PromptBuilder(textModel, template, options.composer);
    this.#grammars = new TurnGrammars(textModel.tokenizer);
    this.#store = new ResponseStore({
      clock,
      limits: options.storeLimits ?? DEFAULT_STORE_LIMITS,
      archive: options.archive,
      reportError: options.reportError ?? warn,
    });
    this.responses = new ResponseDirectory(this.#store, this.#active);
    metrics.observeEngine(() => endpoint.stats());
  }

  openConnection(tenant: string): ConnectionState {
    this.#options.metrics.connectionOpened();
    return new ContinuationCache(tenant, () => this.#options.metrics.connectionClosed());
  }

  async createResponse(
    request: ResponsesRequest,
    context: TurnContext,
    emit: (event: ResponseEvent) => void,
    signal: AbortSignal,
  ): Promise<ResponseObject> {
    this.#options.metrics.recordReceived(context.transport, context.receivedBytes);
    const { turn: planned, dependencies, build } = await this.#prepare(request, context);
    const turn = await this.#grammars.addTo(planned, dependencies.template);
    const active = this.#active.start(turn);
    const { cancellation } = active;
    let outcome: TurnOutcome | undefined;
    try {
      const emitObserved = (event: ResponseEvent) => {
        active.observe(event);
        emit(event);
      };
      const watched = { ...turn, cancellation };
      const run = await this.#run(watched, build, dependencies, emitObserved, signal);
      outcome = active.settled(run);
      this.#remember(turn, outcome);
      return outcome.response;
    } finally {
      if (outcome && active.recording) {
        this.responses.keepRecording(turn.responseId, active.recording);
      }
      this.#active.end(turn.responseId, outcome?.response);
    }
  }

  async countInputTokens(request: ResponsesRequest, context: TurnContext): Promise<number> {
    this.#options.metrics.recordReceived(context.transport, context.receivedBytes);
    const { turn } = await this.#prepare(request, context);
    return turn.prompt.tokens.length;
  }

  async compact(
    request: ResponsesRequest,
    context: TurnContext,
    emit: (event: ResponseEvent) => void,
    signal: AbortSignal,
  ): Promise<CompactedConversation> {
    this.#options.metrics.recordReceived(context.transport, context.receivedBytes);
    const { turn, dependencies, build } = await this.#prepare(request, context);
    const emitter = emitterOf(turn, dependencies, emit);
    return runCompaction(turn, build, dependencies, emitter, signal);
  }

  async prepareCompletion(completion: CompletionTurn): Promise<readonly RunResponse[]> {
    const { prompt, request, seeds, echo } = completion;
    const { metrics, textModel, endpoint, clock } = this.#options;
    checkLogitBias(request, endpoint.info.vocab);
    const logprobScope = echo ? ("prompt" as const) : ("output" as const);
    // The engine gives the prompt's text back together with its log probabilities.
    const repeatsText = echo && request.topLogprobs === undefined;
    const prepared = {
      request,
      head: {
        instructions: null,
        tools: [],
        date: new Date(clock.unixSeconds() * 1000),
        reasoningEffort: undefined,
      },
      items: [],
      prompt: await rawPrompt(prompt, textModel, endpoint.info.vocab),
      parent: undefined,
      continuesText: true,
      logprobScope,
      ...(repeatsText && { leadingText: promptText(prompt, textModel) }),
      isContinuable: false,
    };
    const dependencies = this.#dependencies(undefined);
    const tooLong = contextError(prepared, dependencies);
    if (tooLong) throw tooLong;
    return seeds.map((seed) => async (context, emit, signal) => {
      metrics.recordReceived(context.transport, context.receivedBytes);
      const responseId = randomId("resp");
      const planned: Turn = { ...prepared, request: { ...request, seed }, responseId, context };
      const turn = await this.#grammars.addTo(planned, undefined);
      const emitter = emitterOf(turn, dependencies, emit);
      return (await runTurn(turn, dependencies, emitter, signal)).response;
    });
  }

  async close(): Promise<void> {
    this.#shutdown.abort();
    await this.#store.close();
  }

  async #run(
    turn: Turn,
    build: BuildPrompt,
    dependencies: TurnDependencies,
    emit: (event: ResponseEvent) => void,
    signal: AbortSignal,
  ): Promise<TurnOutcome> {
    const { generate, compacts } = turn.request;
    try {
      if (!generate) return await runWarmup(turn, dependencies, emit, this.#shutdown.signal);
      const emitter = emitterOf(turn, dependencies, emit);
      return compacts
        ? await runCompaction(turn, build, dependencies, emitter, signal)
        : await compactAndRun(turn, build, dependencies, emitter, signal);
    } catch (error) {
      this.#evictParent(turn);
      throw error;
    }
  }

  /** @throws {ApiError} previous_response_not_found, invalid_value, unsupported_parameter */
  async #prepare(received: ResponsesRequest, context: TurnContext) {
    const prompts = this.#prompts;
    if (!prompts) {
      const message = `the model "${this.modelId}" has no chat template: only /v1/completions works`;
      throw invalidRequest("unsupported_parameter", message, "model");
    }
    checkLogitBias(received, this.#options.endpoint.info.vocab);
    const chain = this.#resolveParent(received, context);
    const parent = chain && isLane(chain) ? chain : undefined;
    const request = configuredRequest(received, chain?.items ?? []);
    const { instructions, reasoningEffort, generate } = request;
    const known = this.#resolveItems(request.input, context, chain);
    const input = openReasoning(known, (blob) => this.#sealedReasoning.open(context.tenant, blob));
    const allItems = extendContext(chain?.items ?? [], input);
    const tools = toolSetOf(request.callableTools, allItems);
    checkToolChoice(request.toolChoice, tools.callable);
    const date = chain?.head.date ?? new Date(this.#options.clock.unixSeconds() * 1000);
    const head = { instructions, tools: tools.head, date, reasoningEffort };
    const { tenant, receivedBytes } = context;
    const build = (contextItems: readonly ContextItem[]) =>
      prompts.build({
        tenant,
        head,
        items: contextItems,
        parent,
        addGenerationPrompt: generate,
        receivedBytes,
      });
    const { items, prompt } = await fitContext(request, allItems, this.contextTokens, build);
    const turn: Turn = {
      responseId: randomId("resp"),
      request: { ...request, callableTools: tools.callable },
      context,
      head,
      items,
      prompt,
      parent,
      continuesText: false,
      logprobScope: "text",
      isContinuable: context.connection !== undefined || request.store,
    };
    return { turn, dependencies: this.#dependencies(prompts.template), build };
  }

  #dependencies(template: ChatTemplate | undefined): TurnDependencies {
    const { reportError = warn, reasoningForm = "raw", echo = "http" } = this.#options;
    const sealedReasoning = this.#sealedReasoning;
    return { ...this.#options, template, reportError, reasoningForm, echo, sealedReasoning };
  }

  #resolveParent(request: ResponsesRequest, context: TurnContext): ChainState | undefined {
    const id = request.previousResponseId;
    if (id === null) return undefined;
    const parent = cacheOf(context)?.get(id) ?? this.#store.chain(context.tenant, id);
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
      (ids) =>
        new Map([
          ...this.#store.findItems(context.tenant, ids),
          ...(cacheOf(context)?.findItems(ids) ?? []),
          ...itemsById([chain?.items ?? []], ids),
        ]),
    );
  }

  #remember(turn: Turn, { response, lane }: TurnOutcome): void {
    if (lane) cacheOf(turn.context)?.put(lane);
    const isFailed = response.status === "failed";
    if (isFailed) this.#evictParent(turn);
    if (!turn.request.store) {
      if (!turn.isContinuable) lane?.sequence.release();
    } else if (response.status !== "in_progress")
      this.#store.put(storedResponse(turn, response, lane), lane);
  }

  /** Only on its own lane: a failing branch leaves the parent to the lane it belongs to. */
  #evictParent({ parent, context }: Turn): void {
    if (parent && parent.streamId === context.streamId) {
      cacheOf(context)?.delete(parent.responseId);
    }
  }
}

/** With the fields that are not echoed on a socket. */
function storedResponse(
  turn: Turn,
  response: ResponseObject,
  lane: LaneState | undefined,
): StoredResponse {
  const { instructions, tools, inputItems } = turn.request;
  return {
    tenant: turn.context.tenant,
    response: { ...response, instructions, tools },
    inputItems,
    chain: lane && { head: lane.head, items: lane.items },
  };
}

function cacheOf({ connection }: TurnContext): ContinuationCache | undefined {
  if (connection === undefined || connection instanceof ContinuationCache) return connection;
  throw new TypeError("the connection was not opened by this session service");
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
