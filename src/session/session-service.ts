/**
 * The session: plans a request's turn (`plan-turn.ts`), runs it, remembers the result. Knows no socket
 * (the gateway) and no kernel (the engine). Everything before `response.created` throws ApiErrors; what
 * follows is events.
 *
 * A parent is looked up in the connection's continuation cache, then in the response store. Failing
 * to continue on the parent's own lane evicts the parent: the client then sends its full history.
 */
import type { Clock } from "../base/clock.ts";
import { randomId } from "../base/random-id.ts";
import type { EngineEndpoint } from "../engine/endpoint.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type {
  ResponseEvent,
  ResponseObject,
  ResponsesRequest,
} from "../protocol/responses-types.ts";
import type { TextModel } from "../text/text-types.ts";
import { ActiveResponses } from "./active-responses.ts";
import { cacheOf, ContinuationCache } from "./continuation-cache.ts";
import type { LaneState } from "./lane-state.ts";
import { TurnPlanner } from "./plan-turn.ts";
import type { RemoteComposer } from "./prompt-builder.ts";
import type { DeltaRender } from "./prompt-composer.ts";
import { promptText, rawPrompt } from "./raw-prompt.ts";
import type { ReasoningForm } from "./reasoning-items.ts";
import type { Echo } from "./response-object.ts";
import { ResponseDirectory } from "./response-directory.ts";
import { compactAndRun, runCompaction } from "./run-compaction.ts";
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
import { contextError } from "./turn-failure.ts";
import type { BuildContext } from "./truncate-context.ts";
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
  /** Default: they are kept. */
  readonly keepsLiveSequences?: boolean;
  /** Where stored responses outlive the process; default: nowhere. */
  readonly archive?: ResponseArchive;
  readonly storeLimits?: StoreLimits;
  /** Of reasoning that clients keep; default: one of this process. */
  readonly sealingKey?: Buffer;
  /** For large prompts; default: they are composed on this thread. */
  readonly composer?: RemoteComposer;
  /** Default: on. */
  readonly deltaRender?: DeltaRender;
  /** Hears of every failed run; default: a process warning. */
  readonly reportError?: (error: unknown) => void;
}

export function createSessionService(options: SessionOptions): SessionService {
  return new Session(options);
}

class Session implements SessionService {
  readonly modelId: string;
  readonly contextTokens: number;
  readonly #dependencies: TurnDependencies;
  readonly #planner: TurnPlanner;
  readonly #grammars: TurnGrammars;
  readonly #store: ResponseStore;
  readonly #active = new ActiveResponses();
  readonly responses: ResponseDirectory;
  readonly #shutdown = new AbortController();

  constructor(options: SessionOptions) {
    const { modelId, endpoint, textModel, clock, metrics, reportError = warn } = options;
    this.modelId = modelId;
    this.contextTokens = endpoint.info.context;
    this.#dependencies = {
      ...{ modelId, textModel, endpoint, metrics, clock, reportError },
      template: textModel.chatTemplate,
      reasoningForm: options.reasoningForm ?? "raw",
      sealedReasoning: new SealedTexts("reasoning", options.sealingKey),
      echo: options.echo ?? "http",
      keepsLiveSequences: options.keepsLiveSequences ?? true,
    };
    this.#grammars = new TurnGrammars(textModel.tokenizer);
    this.#store = new ResponseStore({
      clock,
      limits: options.storeLimits ?? DEFAULT_STORE_LIMITS,
      archive: options.archive,
      reportError,
    });
    this.#planner = new TurnPlanner(this.#dependencies, this.#store, options);
    this.responses = new ResponseDirectory(this.#store, this.#active);
    metrics.observeEngine(() => endpoint.stats());
  }

  openConnection(tenant: string): ConnectionState {
    this.#dependencies.metrics.connectionOpened();
    return new ContinuationCache(tenant, () => this.#dependencies.metrics.connectionClosed());
  }

  async createResponse(
    request: ResponsesRequest,
    context: TurnContext,
    emit: (event: ResponseEvent) => void,
    signal: AbortSignal,
  ): Promise<ResponseObject> {
    this.#dependencies.metrics.recordReceived(context.transport, context.receivedBytes);
    const { turn: planned, dependencies, build } = await this.#planner.plan(request, context);
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
    this.#dependencies.metrics.recordReceived(context.transport, context.receivedBytes);
    const { turn } = await this.#planner.plan(request, context);
    return turn.prompt.tokens.length;
  }

  async compact(
    request: ResponsesRequest,
    context: TurnContext,
    emit: (event: ResponseEvent) => void,
    signal: AbortSignal,
  ): Promise<CompactedConversation> {
    this.#dependencies.metrics.recordReceived(context.transport, context.receivedBytes);
    const { turn, dependencies, build } = await this.#planner.plan(request, context);
    const emitter = emitterOf(turn, dependencies, emit);
    return runCompaction(turn, build, dependencies, emitter, signal);
  }

  async prepareCompletion(completion: CompletionTurn): Promise<readonly RunResponse[]> {
    const { prompt, request, seeds, echo } = completion;
    const { metrics, textModel, endpoint, clock } = this.#dependencies;
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
      parentUse: "advance" as const,
      continuesText: true,
      logprobScope,
      ...(repeatsText && { leadingText: promptText(prompt, textModel) }),
      isContinuable: false,
    };
    const dependencies = { ...this.#dependencies, template: undefined };
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
    this.#planner.close();
    await this.#store.close();
  }

  async #run(
    turn: Turn,
    build: BuildContext,
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

  #remember(turn: Turn, { response, lane }: TurnOutcome): void {
    if (lane) {
      this.#planner.remember(turn, lane);
      cacheOf(turn.context)?.put(lane);
    }
    const isFailed = response.status === "failed";
    if (isFailed) this.#evictParent(turn);
    if (turn.request.store && response.status !== "in_progress") {
      this.#store.put(storedResponse(turn, response, lane), lane);
    }
    if (lane && !lane.sequence.isHeld) lane.sequence.release();
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

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
