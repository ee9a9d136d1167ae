/**
 * The turns of one engine worker: starts them on the native engine, splits each step's events by
 * turn and posts what is new as one message a step. It does not know Piscina or ports, and never
 * makes the engine wait. Worker thread only.
 */
import type {
  NativeEngine,
  NativeRequest,
  RequestId,
  SequenceId,
  StepEvents,
} from "../native/addon-types.ts";
import { engineFailure } from "../native/engine-errors.ts";
import type { OutputDecoder, TextModel } from "../text/text-types.ts";
import { ActiveTurn } from "./active-turn.ts";
import type { TurnRequest } from "./endpoint.ts";
import type { ControlMessage, TurnTask, TurnUpdate } from "./pool-messages.ts";
import { TurnScores } from "./turn-scores.ts";

export interface EngineTurnsOptions {
  readonly engine: NativeEngine;
  readonly textModel: Pick<TextModel, "createOutputDecoder"> & {
    readonly tokenizer: Pick<TextModel["tokenizer"], "eogIds" | "compileGrammar">;
  };
  /** Error code names by native index. */
  readonly errorCodes: readonly string[];
  readonly workerId: number;
  readonly post: (updates: readonly TurnUpdate[]) => void;
}

export class EngineTurns {
  readonly #options: EngineTurnsOptions;
  readonly #stopTokenIds: Int32Array;
  readonly #turns = new Map<RequestId, ActiveTurn>();
  readonly #endOfTurn = new Map<number, () => void>();
  /** Control messages that overtook the turn they name. */
  #early: ControlMessage[] = [];
  #lastTurnId = 0;
  #isClosing = false;

  constructor(options: EngineTurnsOptions) {
    this.#options = options;
    this.#stopTokenIds = Int32Array.from(options.textModel.tokenizer.eogIds);
  }

  /** Resolves when the pool was told the outcome. */
  run(task: TurnTask): Promise<void> {
    this.#lastTurnId = task.turnId;
    const ended = new Promise<void>((resolve) => this.#endOfTurn.set(task.turnId, resolve));
    try {
      const nativeId = this.#submit(task.request);
      const decoder = this.#createDecoder(task.request);
      const scores = this.#createScores(task.request);
      this.#turns.set(nativeId, new ActiveTurn(task, nativeId, decoder, scores));
    } catch (thrown) {
      const failure = engineFailure(thrown);
      this.#post([{ turnId: task.turnId, outcome: { type: "failed", failure } }]);
    }
    const due = this.#early.filter(({ afterTurnId }) => afterTurnId <= this.#lastTurnId);
    this.#early = this.#early.filter(({ afterTurnId }) => afterTurnId > this.#lastTurnId);
    for (const message of due) this.control(message);
    return ended;
  }

  control(message: ControlMessage): void {
    if (message.afterTurnId > this.#lastTurnId) {
      this.#early.push(message);
    } else if (message.type === "release") {
      this.#release(message.sequenceId);
    } else {
      const turn = [...this.#turns.values()].find(({ id }) => id === message.afterTurnId);
      if (turn === undefined) return;
      if (message.type === "cancel") this.#abort(turn);
      else if (!this.#isClosing) this.#options.engine[message.type](turn.nativeId);
    }
  }

  /** Ends every open turn with ERR_ENGINE_CLOSED. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#options.engine.close();
  }

  onStep(step: StepEvents): void {
    const updates: TurnUpdate[] = [];
    const present = new Set<RequestId>();
    for (let i = 0; i < step.requestIds.length; i++) {
      const nativeId = step.requestIds[i] as RequestId;
      const turn = this.#turns.get(nativeId);
      if (turn === undefined) continue;
      present.add(nativeId);
      const update = this.#advance(turn, step, i);
      if (update !== undefined) updates.push(update);
    }
    for (const turn of this.#turns.values()) {
      const update = present.has(turn.nativeId) ? undefined : turn.missStep();
      if (update !== undefined) updates.push(update);
    }
    this.#post(updates);
  }

  #advance(turn: ActiveTurn, step: StepEvents, index: number): TurnUpdate | undefined {
    const wasSettled = turn.isSettled;
    const update = wasSettled ? undefined : this.#read(turn, step, index);
    const isEnded = step.finish[index] !== 0;
    if (isEnded) {
      this.#turns.delete(turn.nativeId);
      // The engine may have gone past the cut, so nobody can continue what it kept.
      if (turn.isCut) this.#release(step.sequenceIds[index] as number);
    } else if (turn.isCut && !wasSettled) {
      this.#abort(turn);
    }
    return update;
  }

  #read(turn: ActiveTurn, step: StepEvents, index: number): TurnUpdate {
    try {
      return turn.read(step, index, this.#options.workerId, this.#options.errorCodes);
    } catch (thrown) {
      turn.cut(); // a decoder that fails costs its own turn, not the worker
      return { turnId: turn.id, outcome: { type: "failed", failure: engineFailure(thrown) } };
    }
  }

  #abort(turn: ActiveTurn): void {
    if (!this.#isClosing) this.#options.engine.abort(turn.nativeId);
  }

  #release(sequenceId: number): void {
    if (!this.#isClosing) this.#options.engine.release(sequenceId as SequenceId);
  }

  #submit(request: TurnRequest): RequestId {
    const { engine } = this.#options;
    const native = this.#nativeRequest(request);
    const { continueFrom } = request;
    if (continueFrom === undefined) return engine.submit(native);
    const live = continueFrom.sequenceId as SequenceId;
    if (request.fork !== true) return engine.continueSequence(live, native);
    const branch = engine.fork(live, continueFrom.numTokens);
    try {
      return engine.continueSequence(branch, native);
    } catch (error) {
      engine.release(branch);
      throw error;
    }
  }

  #nativeRequest(request: TurnRequest): NativeRequest {
    const { tokenizer } = this.#options.textModel;
    return {
      ...request.sampling,
      tokens: request.tokens,
      tenantSalt: request.tenantSalt,
      maxOutputTokens: request.maxOutputTokens,
      stopTokenIds: this.#stopTokenIds,
      keepSequence: request.keepSequence,
      prefillOnly: request.prefillOnly,
      logits: "none",
      ...(request.logprobs !== undefined && {
        logprobs: {
          numTop: request.logprobs.numTop,
          ofPrompt: request.logprobs.scope === "prompt",
        },
      }),
      // On this thread: turns and the control messages that name them stay in order. What takes long
      // was compiled before and is found (see `compileGrammar`).
      ...(request.grammar !== undefined && { grammar: tokenizer.compileGrammar(request.grammar) }),
      jumpForward: true,
    };
  }

  #createDecoder(request: TurnRequest): OutputDecoder {
    return this.#options.textModel.createOutputDecoder({
      stop: request.stop,
      ...(request.continuesText !== undefined && { continuesText: request.continuesText }),
      ...(request.outputFormat !== undefined && { format: request.outputFormat }),
      reportsEveryToken: request.logprobs !== undefined && request.logprobs.scope !== "text",
    });
  }

  #createScores({ logprobs, tokens }: TurnRequest): TurnScores | undefined {
    if (logprobs === undefined) return undefined;
    if (logprobs.scope !== "prompt") return new TurnScores(logprobs.numTop, undefined);
    const decoder = this.#options.textModel.createOutputDecoder({
      stop: [],
      reportsEveryToken: true,
    });
    return new TurnScores(logprobs.numTop, { tokens, decoder });
  }

  #post(updates: readonly TurnUpdate[]): void {
    if (updates.length === 0) return;
    this.#options.post(updates);
    for (const { turnId, outcome } of updates) {
      if (outcome === undefined) continue;
      this.#endOfTurn.get(turnId)?.();
      this.#endOfTurn.delete(turnId);
    }
  }
}
