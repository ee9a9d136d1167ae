/**
 * The engine as session and router see it: nothing here assumes that it runs in this process.
 * Implemented by `EnginePool` (Piscina worker threads).
 */
import type { OutputFlow } from "../base/output-flow.ts";
import type {
  EngineErrorCode,
  EngineInfo,
  EngineStats,
  SamplingOptions,
} from "../native/addon-types.ts";
import type { OutputFormat } from "../text/output/output-format.ts";
import type { OutputEvent } from "../text/text-types.ts";

/** A live sequence: its KV is kept on one worker. */
export interface SequenceRef {
  readonly workerId: number;
  readonly sequenceId: number;
  /** Tokens the sequence holds, the last sampled one included; of a fork's source, those it takes. */
  readonly numTokens: number;
}

export interface TurnLogprobs {
  /** Of the most likely tokens in each place. */
  readonly numTop: number;
  /**
   * `text`: of the tokens that made text. `output`: of every token that was sampled, up to a stop string.
   * `prompt`: of these and of the prompt's tokens; the output then begins with the prompt's own text.
   */
  readonly scope: "text" | "output" | "prompt";
}

export interface TurnRequest {
  /** Whole prompt. Transferred: the caller must not use the array afterwards. */
  readonly tokens: Int32Array;
  /** When set, `tokens` are only those after the sequence's own. */
  readonly continueFrom?: SequenceRef;
  /** Branch: the live sequence is forked after `continueFrom.numTokens` tokens and stays usable. */
  readonly fork?: boolean;
  /** Worker whose cache knows the lane; preferred unless it is overloaded. */
  readonly laneWorkerId?: number;
  readonly tenantSalt: string;
  readonly sampling: SamplingOptions;
  readonly maxOutputTokens: number;
  readonly stop: readonly string[];
  /** The output goes on in the middle of a text, so that a space at its start belongs to it. */
  readonly continuesText?: boolean;
  /** undefined: model output is plain text. */
  readonly outputFormat?: OutputFormat;
  /** Log probabilities come with the output's text; undefined: none. */
  readonly logprobs?: TurnLogprobs;
  /** What the output must match: a grammar as JSON (native/grammar/grammar_spec.h). */
  readonly grammar?: string;
  /** End the turn after the first complete call. */
  readonly stopAfterCall: boolean;
  readonly keepSequence: boolean;
  readonly prefillOnly: boolean;
}

export type TurnEvent =
  /** Waiting for a slot: sent only when the engine did not admit at once. */
  | { readonly type: "queued" }
  | {
      readonly type: "admitted";
      readonly promptTokens: number;
      readonly cachedTokens: number;
      readonly liveHit: boolean;
    }
  | { readonly type: "output"; readonly events: readonly OutputEvent[] };

export type TurnFinish = "stop" | "length" | "aborted" | "prefilled";

export interface TurnResult {
  readonly finish: TurnFinish;
  /** Every sampled token, in order; the end-of-generation token included. */
  readonly tokens: Int32Array;
  /** Of `tokens`, those of thinking, its markers included. */
  readonly reasoningTokens: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly liveHit: boolean;
  /** Prompt tokens computed again after preemption. */
  readonly preemptedTokens: number;
  /** Set when `keepSequence` and the engine kept it. */
  readonly sequence?: SequenceRef;
}

/** A failed turn. `code` is stable; the gateway maps it to HTTP in one table. */
export class EngineError extends Error {
  readonly code: EngineErrorCode;
  /** For ERR_QUEUE_FULL: when there will be room. */
  readonly retryAfterSeconds: number | undefined;
  constructor(code: EngineErrorCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.name = "EngineError";
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** What the router knows of a worker. Plain data. */
export interface WorkerSnapshot {
  readonly workerId: number;
  readonly inFlight: number;
  /** Prompt tokens of turns that have not sampled yet. */
  readonly queuedTokens: number;
  /** Turns it takes at once. */
  readonly slots: number;
  /** Turns it was ever given. */
  readonly startedTurns: number;
  readonly isAlive: boolean;
}

/** What is known of a turn that matters for its worker. */
export interface RouteHint {
  readonly laneWorkerId?: number;
}

export interface RouteChoice {
  readonly workerId: number;
  readonly why: "lane" | "lane-overloaded" | "least-loaded";
}

/** Pure; undefined when no candidate is alive. `src/router/score.ts` has the implementation. */
export type ChooseWorker = (
  candidates: readonly WorkerSnapshot[],
  hint: RouteHint,
) => RouteChoice | undefined;

export interface EngineEndpoint {
  readonly info: EngineInfo;
  /**
   * Runs one turn. `onEvent` is called in order before the promise settles. Aborting `signal` ends
   * the turn within one engine step with finish "aborted"; while `flow` is paused nothing is computed.
   * @throws {EngineError} ERR_SEQUENCE_RELEASED: submit the full list instead; ERR_GRAMMAR: the
   *   grammar is wrong, or the vocabulary cannot spell it
   */
  runTurn(
    request: TurnRequest,
    onEvent: (event: TurnEvent) => void,
    signal: AbortSignal,
    flow?: OutputFlow,
  ): Promise<TurnResult>;
  release(sequence: SequenceRef): void;
  snapshots(): readonly WorkerSnapshot[];
  stats(): Promise<readonly EngineStats[]>;
  close(): Promise<void>;
}
