/**
 * One turn on the main thread, from runTurn() to its settled promise. It outlives the worker it runs
 * on: while nothing of its output was passed on it may start again elsewhere, and its listener hears
 * "queued" and "admitted" once all the same.
 */
import type { OutputFlow } from "../base/output-flow.ts";
import { EngineError, type TurnEvent, type TurnRequest, type TurnResult } from "./endpoint.ts";
import type { TurnUpdate } from "./pool-messages.ts";

export class PoolTurn {
  readonly request: TurnRequest;
  readonly signal: AbortSignal;
  readonly flow: OutputFlow | undefined;
  readonly settled: Promise<TurnResult>;
  /** Starts on a worker so far. */
  numStarts = 0;
  readonly #onEvent: (event: TurnEvent) => void;
  #resolve!: (result: TurnResult) => void;
  #reject!: (error: unknown) => void;
  #isQueued = false;
  #isAdmitted = false;
  #hasOutput = false;

  constructor(
    request: TurnRequest,
    onEvent: (event: TurnEvent) => void,
    signal: AbortSignal,
    flow?: OutputFlow,
  ) {
    this.request = request;
    this.signal = signal;
    this.flow = flow;
    this.#onEvent = onEvent;
    this.settled = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Prompt tokens that wait for their prefill. */
  get queuedTokens(): number {
    return this.#hasOutput ? 0 : this.request.tokens.length;
  }

  /** A second start would not show. */
  get canRestart(): boolean {
    return this.numStarts < 2 && !this.#hasOutput;
  }

  deliver(update: TurnUpdate): void {
    if (update.isQueued) this.queued();
    if (update.admitted !== undefined && !this.#isAdmitted) {
      this.#isAdmitted = true;
      this.#onEvent({ type: "admitted", ...update.admitted });
    }
    if (update.events !== undefined) {
      this.#hasOutput = true;
      this.#onEvent({ type: "output", events: update.events });
    }
    const { outcome } = update;
    if (outcome?.type === "finished") this.#resolve(outcome.result);
    else if (outcome?.type === "failed")
      this.fail(new EngineError(outcome.failure.code, outcome.failure.message));
  }

  queued(): void {
    if (this.#isQueued || this.#isAdmitted) return;
    this.#isQueued = true;
    this.#onEvent({ type: "queued" });
  }

  fail(error: unknown): void {
    this.#reject(error);
  }

  /** Aborted while no worker has it. */
  abortUnstarted(): void {
    this.#resolve({
      finish: "aborted",
      tokens: new Int32Array(),
      reasoningTokens: 0,
      promptTokens: this.request.tokens.length + (this.request.continueFrom?.numTokens ?? 0),
      cachedTokens: 0,
      liveHit: false,
      preemptedTokens: 0,
    });
  }
}
