/**
 * One turn inside an engine worker: its decoder, its tokens and what it has told the pool. It reads
 * step events and says what is new; it calls neither the engine nor the port.
 */
import {
  type EngineErrorCode,
  FINISH_REASONS,
  type NativeFinish,
  type RequestId,
  type SequenceId,
  type StepEvents,
} from "../native/addon-types.ts";
import { type EngineFailure, isEngineErrorCode } from "../native/engine-errors.ts";
import type { OutputDecoder, OutputEvent } from "../text/text-types.ts";
import type { TurnFinish, TurnRequest, TurnResult } from "./endpoint.ts";
import type { TurnOutcome, TurnTask, TurnUpdate } from "./pool-messages.ts";
import type { StepScores, TurnScores } from "./turn-scores.ts";

/**
 * Steps without an admission before a turn counts as queued. The first step to end may have begun
 * before the turn arrived.
 */
const STEPS_UNTIL_QUEUED = 2;

export class ActiveTurn {
  readonly id: number;
  readonly nativeId: RequestId;
  readonly request: TurnRequest;
  #isSettled = false;
  #isCut = false;
  readonly #decoder: OutputDecoder;
  /** undefined: the turn does not want log probabilities. */
  readonly #scores: TurnScores | undefined;
  readonly #tokens: number[] = [];
  #admission: TurnUpdate["admitted"];
  #stepsMissed = 0;

  constructor(
    task: TurnTask,
    nativeId: RequestId,
    decoder: OutputDecoder,
    scores: TurnScores | undefined,
  ) {
    this.id = task.turnId;
    this.request = task.request;
    this.nativeId = nativeId;
    this.#decoder = decoder;
    this.#scores = scores;
  }

  /** The pool was told the outcome; the engine may still have to abort. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** This side ended the turn (stop string, complete call, failure): the engine has to be told. */
  get isCut(): boolean {
    return this.#isCut;
  }

  cut(): void {
    this.#isCut = true;
    this.#isSettled = true;
  }

  /** A step ended without this turn. */
  missStep(): TurnUpdate | undefined {
    if (this.#admission !== undefined) return undefined;
    this.#stepsMissed++;
    return this.#stepsMissed === STEPS_UNTIL_QUEUED
      ? { turnId: this.id, isQueued: true }
      : undefined;
  }

  /** Event `index` of a step is about this turn. */
  read(
    step: StepEvents,
    index: number,
    workerId: number,
    errorCodes: readonly string[],
  ): TurnUpdate {
    const isFirst = this.#admission === undefined && step.admitted[index] === 1;
    if (isFirst) this.#admission = admission(step, index);
    const start = step.tokenStart[index] as number;
    const end = step.tokenStart[index + 1] as number;
    const events = this.#decode(step.tokens.subarray(start, end), this.#scores?.read(step, index));
    const finish: NativeFinish = this.#isCut
      ? "stop"
      : (FINISH_REASONS[step.finish[index] as number] as NativeFinish);
    if (finish !== "none") {
      this.#isSettled = true;
      events.push(...this.#decoder.finish(finish === "length"));
    }
    return {
      turnId: this.id,
      ...(isFirst && { admitted: admission(step, index) }),
      ...(events.length > 0 && { events }),
      ...(finish === "failed" && { outcome: failed(step, index, errorCodes) }),
      ...(finish !== "none" &&
        finish !== "failed" && { outcome: this.#finished(finish, step, index, workerId) }),
    };
  }

  /** Token by token: which one ended the turn decides what the turn keeps. */
  #decode(ids: Int32Array, news: StepScores | undefined): OutputEvent[] {
    const events: OutputEvent[] = [...(news?.promptEvents ?? [])];
    for (let i = 0; i < ids.length && !this.#isCut; i++) {
      this.#tokens.push(ids[i] as number);
      const decoded = this.#decoder.push(ids.subarray(i, i + 1), news?.scores.slice(i, i + 1));
      events.push(...decoded);
      const hasCall = this.request.stopAfterCall && decoded.some(({ type }) => type === "call_end");
      this.#isCut = this.#decoder.stopped || hasCall;
    }
    return events;
  }

  #finished(finish: TurnFinish, step: StepEvents, index: number, workerId: number): TurnOutcome {
    const tokens = Int32Array.from(this.#tokens);
    const { promptTokens, cachedTokens, liveHit } = this.#admission ?? admission(step, index);
    const isKept = this.request.keepSequence && finish !== "aborted" && !this.#isCut;
    const result: TurnResult = {
      finish,
      tokens,
      reasoningTokens: this.#decoder.numReasoningTokens,
      promptTokens,
      cachedTokens,
      liveHit,
      preemptedTokens: step.preemptedTokens[index] as number,
      ...(isKept && {
        sequence: {
          workerId,
          sequenceId: step.sequenceIds[index] as SequenceId,
          numTokens: promptTokens + tokens.length,
        },
      }),
    };
    return { type: "finished", result };
  }
}

function admission(step: StepEvents, index: number): NonNullable<TurnUpdate["admitted"]> {
  return {
    promptTokens: step.promptTokens[index] as number,
    cachedTokens: step.cachedTokens[index] as number,
    liveHit: step.liveHit[index] === 1,
  };
}

function failed(step: StepEvents, index: number, errorCodes: readonly string[]): TurnOutcome {
  const code = errorCodes[step.errorCode[index] as number];
  const failure: EngineFailure = isEngineErrorCode(code)
    ? { code, message: whyFailed(code) }
    : { code: "ERR_INTERNAL", message: `the engine ended the turn with unknown code ${code}` };
  return { type: "failed", failure };
}

function whyFailed(code: EngineErrorCode): string {
  return code === "ERR_GRAMMAR"
    ? "the model's vocabulary cannot go on as the grammar wants, or the grammar is too ambiguous"
    : "the engine ended the turn";
}
