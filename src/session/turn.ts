/** A validated request with its prompt: what runs on the engine, and the wiring it runs with. */
import type { Clock } from "../base/clock.ts";
import type { EngineEndpoint, SequenceRef, TurnLogprobs } from "../engine/endpoint.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type {
  ContextItem,
  ResponseEvent,
  ResponseObject,
  ResponsesRequest,
  Usage,
} from "../protocol/responses-types.ts";
import type { ChatTemplate, TextModel } from "../text/text-types.ts";
import type { ParentSequence, TurnOptions } from "./engine-run.ts";
import type { Generation, LaneState, PromptHead } from "./lane-state.ts";
import { LiveSequence } from "./live-sequence.ts";
import type { Prompt } from "./prompt-builder.ts";
import type { ReasoningForm } from "./reasoning-items.ts";
import { ResponseEmitter } from "./response-emitter.ts";
import { samplingOptions } from "./sampling.ts";
import type { Echo } from "./response-object.ts";
import type { SealedTexts } from "./sealed-texts.ts";
import type { TurnContext } from "./session-types.ts";
import type { TokenList } from "./token-list.ts";
import { outputFormatOf } from "./turn-output-format.ts";

/**
 * The engine says "queued" or "admitted" within this, or refuses. After it, `response.created` goes
 * out alone: a first prefill step or an awaited warmup takes long.
 */
export const START_GRACE_MS = 50;

export interface TurnDependencies {
  readonly modelId: string;
  readonly textModel: TextModel;
  /** undefined: the output is plain text. */
  readonly template: ChatTemplate | undefined;
  readonly endpoint: EngineEndpoint;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly reasoningForm: ReasoningForm;
  readonly sealedReasoning: SealedTexts;
  readonly echo: Echo;
  /** false: a turn finds what its parent computed by content only. */
  readonly keepsLiveSequences: boolean;
  /** For the operator: clients hear less of an engine failure than its message. */
  readonly reportError: (error: unknown) => void;
}

export interface Turn {
  readonly responseId: string;
  readonly request: ResponsesRequest;
  readonly context: TurnContext;
  readonly head: PromptHead;
  /** Effective context, output not yet included. */
  readonly items: readonly ContextItem[];
  readonly prompt: Prompt;
  readonly parent: LaneState | undefined;
  readonly parentUse: ParentSequence["use"];
  /** The output goes on where the prompt's text ends, instead of being a message of its own. */
  readonly continuesText: boolean;
  /** What the output must match, as JSON; undefined: anything. */
  readonly grammar?: string;
  /** Of which tokens log probabilities are told, where the request wants any. */
  readonly logprobScope: TurnLogprobs["scope"];
  /** Stands in front of the output. */
  readonly leadingText?: string;
  /** Of the summary that was made for this response before. */
  readonly earlierUsage?: Usage;
  /** Aborts when the response is cancelled by request; undefined: nobody can. */
  readonly cancellation?: AbortSignal;
  /** The sequence is worth keeping: somebody can continue from this response. */
  readonly isContinuable: boolean;
}

export interface TurnOutcome {
  readonly response: ResponseObject;
  /** undefined: nothing can continue from it (failed or abandoned). */
  readonly lane: LaneState | undefined;
}

export function engineOptions(turn: Turn, dependencies: TurnDependencies): TurnOptions {
  const { request } = turn;
  const room = dependencies.endpoint.info.context - turn.prompt.tokens.length;
  const { template } = dependencies;
  const outputFormat = template && outputFormatOf(turn, template);
  const { topLogprobs: numTop } = request;
  return {
    tenantSalt: turn.context.tenant,
    sampling: samplingOptions(request, dependencies.textModel.samplingDefaults),
    maxOutputTokens: Math.min(request.maxOutputTokens ?? room, room),
    stop: request.stop,
    continuesText: turn.continuesText,
    ...(outputFormat !== undefined && { outputFormat }),
    ...(numTop !== undefined && { logprobs: { numTop, scope: turn.logprobScope } }),
    ...(turn.grammar !== undefined && { grammar: turn.grammar }),
    // A grammar ends the output behind its one call by itself.
    stopAfterCall: !request.parallelToolCalls && turn.grammar === undefined,
    keepSequence: turn.isContinuable && dependencies.keepsLiveSequences,
    prefillOnly: !request.generate,
  };
}

export function emitterOf(
  turn: Turn,
  { modelId, clock, reasoningForm, sealedReasoning, echo }: TurnDependencies,
  emit: (event: ResponseEvent) => void,
): ResponseEmitter {
  const { responseId: id, request } = turn;
  const { tenant, transport } = turn.context;
  const isEchoing = echo === "all" || (echo === "http" && transport !== "ws");
  const identity = { id, createdAt: clock.unixSeconds(), model: modelId, isEchoing, request };
  const seal = request.includesEncryptedReasoning
    ? (text: string) => sealedReasoning.seal(tenant, text)
    : undefined;
  const output = { tools: request.callableTools, reasoning: { form: reasoningForm, seal } };
  return new ResponseEmitter(identity, output, clock, emit);
}

export function parentSequence({ parent, parentUse }: Turn): ParentSequence | undefined {
  return parent && { sequence: parent.sequence, use: parentUse };
}

/** @param sequence must not reject; undefined: nothing of the turn is live. */
export function liveSequenceOf(
  { parent, prompt }: Turn,
  endpoint: EngineEndpoint,
  sequence: SequenceRef | undefined | Promise<SequenceRef | undefined>,
): LiveSequence {
  const live = new LiveSequence(endpoint, sequence, parent?.sequence.workerId);
  const keepsParent = parent !== undefined && prompt.numKeptTokens === parent.tokens.length;
  if (keepsParent && sequence !== undefined) parent.sequence.continuesAs(live);
  return live;
}

export function laneOf(
  turn: Turn,
  result: {
    readonly items: readonly ContextItem[];
    readonly tokens: TokenList;
    readonly generation: Generation;
    readonly sequence: LiveSequence;
  },
): LaneState {
  return {
    responseId: turn.responseId,
    tenant: turn.context.tenant,
    streamId: turn.context.streamId,
    head: turn.head,
    numPromptItems: turn.items.length,
    numPromptTokens: turn.prompt.tokens.length,
    ...result,
  };
}
