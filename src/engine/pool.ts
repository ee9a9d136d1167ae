/**
 * The engines of this process: one worker thread each, run by Piscina. A turn is one Piscina task;
 * which worker gets it is decided here (by the router's pure function) and only handed to Piscina's
 * load balancer, and only when that worker has a free slot. Turns that find none wait here, in order.
 * Output comes back on one port a worker, one message a step.
 *
 * A worker that dies is replaced. Its turns start once more elsewhere when none of their output was
 * passed on, else they fail with ERR_ENGINE_FAILED. Main thread only; work here is O(new tokens).
 */
import path from "node:path";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { Piscina } from "piscina";
import type { OutputFlow } from "../base/output-flow.ts";
import type { EngineInfo, EngineOptions, EngineStats } from "../native/addon-types.ts";
import { type EngineFailure, engineFailure } from "../native/engine-errors.ts";
import { loadAddon } from "../native/load-addon.ts";
import {
  type ChooseWorker,
  type EngineEndpoint,
  EngineError,
  type SequenceRef,
  type TurnEvent,
  type TurnRequest,
  type TurnResult,
  type WorkerSnapshot,
} from "./endpoint.ts";
import type { AttachResult, AttachTask, TurnTask, TurnUpdate } from "./pool-messages.ts";
import { PoolTurn } from "./pool-turn.ts";
import { PoolWorker } from "./pool-worker.ts";
import { QueuePace } from "./queue-pace.ts";

/** A worker's garbage is small and dies at once: the room that V8 would give it is memory for nothing. */
const YOUNG_GENERATION_MIB = 4;
/** Workers run compiled code, also when the pool itself runs from `src/`. */
const WORKER_FILE = path.join(import.meta.dirname, "../../dist/engine/engine-worker.js");

export interface EnginePoolOptions {
  readonly engines: number;
  /** Of each engine. Its `maxRunning` is the number of slots, `maxQueued` bounds the waiting turns. */
  readonly engine: EngineOptions;
  readonly chooseWorker: ChooseWorker;
  /** Hears of every worker that ended or did not open its engine; for the log. */
  readonly onFailure?: (failure: EngineFailure) => void;
}

export class EnginePool implements EngineEndpoint {
  readonly #options: EnginePoolOptions;
  readonly #piscina: Piscina;
  readonly #workers: PoolWorker[] = [];
  /** Turns without a slot, oldest first. */
  readonly #waiting = new Set<PoolTurn>();
  readonly #queuePace = new QueuePace();
  #lastTurnId = 0;
  #isClosed = false;
  #info: EngineInfo | undefined;

  /** @throws {EngineError} ERR_MODEL_*, ERR_INVALID_ARGUMENT when an engine does not open */
  static async create(options: EnginePoolOptions): Promise<EnginePool> {
    loadAddon(); // the main thread first: then no worker's end unloads it
    const pool = new EnginePool(options);
    await pool.#started();
    return pool;
  }

  private constructor(options: EnginePoolOptions) {
    this.#options = options;
    this.#piscina = new Piscina({
      filename: WORKER_FILE,
      name: "runTurn",
      minThreads: options.engines,
      maxThreads: options.engines,
      idleTimeout: Number.POSITIVE_INFINITY,
      // The default freezes an idle worker's event loop: no engine callback, no port message.
      atomics: "disabled",
      concurrentTasksPerWorker: options.engine.maxRunning,
      recordTiming: false,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
      loadBalancer: (task, workers) => {
        const wanted: unknown = Reflect.get(task, Piscina.queueOptionsSymbol);
        return workers.find(({ id, destroyed }) => id === wanted && !destroyed) ?? null;
      },
    });
  }

  get info(): EngineInfo {
    if (this.#info === undefined) throw new EngineError("ERR_INTERNAL", "no engine was opened");
    return this.#info;
  }

  runTurn(
    request: TurnRequest,
    onEvent: (event: TurnEvent) => void,
    signal: AbortSignal,
    flow?: OutputFlow,
  ): Promise<TurnResult> {
    const turn = new PoolTurn(request, onEvent, signal, flow);
    const cancel = () => this.#cancel(turn);
    signal.addEventListener("abort", cancel, { once: true });
    const forgetFlow = flow?.onChange(() => this.#fitFlow(turn));
    this.#place(turn);
    return turn.settled.finally(() => {
      signal.removeEventListener("abort", cancel);
      forgetFlow?.();
    });
  }

  release({ workerId, sequenceId }: SequenceRef): void {
    this.#workers.find((worker) => worker.workerId === workerId)?.release(sequenceId);
  }

  snapshots(): readonly WorkerSnapshot[] {
    return this.#workers.map((worker) => worker.snapshot());
  }

  /** Of the workers that are alive. */
  async stats(): Promise<readonly EngineStats[]> {
    const alive = this.#workers.filter((worker) => worker.isAlive);
    const answers = await Promise.allSettled(
      alive.map((worker) => this.#call<EngineStats>(worker, "stats", {})),
    );
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  }

  /** Open and waiting turns end with ERR_ENGINE_CLOSED. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const turn of this.#waiting) turn.fail(closedError());
    this.#waiting.clear();
    const alive = this.#workers.filter((worker) => worker.isAlive);
    await Promise.allSettled(alive.map((worker) => this.#call(worker, "close", {})));
    await this.#piscina.destroy();
    for (const worker of this.#workers) {
      for (const turn of worker.bury()) turn.fail(closedError());
    }
  }

  /** Ends a worker's thread as a crash would; a new one takes its place. */
  async terminateWorker(workerId: number): Promise<void> {
    await this.#piscina.threads.find(({ threadId }) => threadId === workerId)?.terminate();
  }

  // ---- workers

  async #started(): Promise<void> {
    const attaching: Promise<AttachResult>[] = [];
    await new Promise<void>((resolve) => {
      this.#piscina.on("workerCreate", ({ id }: { id: number }) => {
        const attached = this.#attach(id);
        if (attaching.push(attached) === this.#options.engines) resolve();
      });
      this.#piscina.on("workerDestroy", () => this.#buryDead());
      // A thread that threw while it had no turn; it is buried like any other.
      this.#piscina.on("error", (thrown: unknown) => this.#report(engineFailure(thrown)));
    });
    const results = await Promise.all(attaching);
    const failed = results.find((result) => result.type === "failed");
    if (failed === undefined) return;
    await this.close();
    throw new EngineError(failed.failure.code, failed.failure.message);
  }

  async #attach(workerId: number): Promise<AttachResult> {
    const worker = this.#seat(workerId);
    const { port1, port2 } = new MessageChannel();
    port1.on("message", (updates: readonly TurnUpdate[]) => this.#onStep(worker, updates));
    port1.unref(); // Piscina keeps the process alive while a turn runs
    const task: AttachTask = { port: port2, options: this.#options.engine };
    const result = await this.#call<AttachResult>(worker, "attach", task, [port2]).catch(
      (thrown: unknown): AttachResult => ({ type: "failed", failure: engineFailure(thrown) }),
    );
    if (result.type === "ready") {
      worker.attached(port1);
      this.#info ??= result.info;
    } else {
      port1.close();
      worker.bury();
      this.#report(result.failure);
    }
    this.#placeWaiting();
    return result;
  }

  /** A new worker takes the place of a lost one, so that the pool's size stays what it was. */
  #seat(workerId: number): PoolWorker {
    const worker = new PoolWorker(workerId, this.#options.engine.maxRunning);
    const lostIdx = this.#workers.findIndex(({ isLost }) => isLost);
    if (lostIdx >= 0) this.#workers[lostIdx] = worker;
    else this.#workers.push(worker);
    return worker;
  }

  /** Piscina does not say which thread it lost once that one is gone: a live worker without one. */
  #buryDead(): void {
    if (this.#isClosed) return;
    const running = new Set(this.#piscina.threads.map(({ threadId }) => threadId));
    for (const worker of this.#workers) {
      if (!worker.isAlive || running.has(worker.workerId)) continue;
      this.#bury(worker);
    }
  }

  #bury(worker: PoolWorker): void {
    const orphans = worker.bury();
    const message = `engine worker ${worker.workerId} ended with ${orphans.length} open turns`;
    this.#report({ code: "ERR_ENGINE_FAILED", message });
    for (const turn of orphans) {
      if (turn.canRestart) this.#place(turn);
      else turn.fail(new EngineError("ERR_ENGINE_FAILED", message));
    }
  }

  #report(failure: EngineFailure): void {
    this.#options.onFailure?.(failure);
  }

  // ---- turns

  /** Starts a turn, or lets it wait for a slot. */
  #place(turn: PoolTurn): void {
    const { continueFrom, laneWorkerId } = turn.request;
    if (this.#isClosed || turn.signal.aborted) {
      if (this.#isClosed) turn.fail(closedError());
      else turn.abortUnstarted();
      return;
    }
    const wanted = continueFrom?.workerId ?? laneWorkerId;
    const choice = this.#options.chooseWorker(
      this.snapshots(),
      wanted === undefined ? {} : { laneWorkerId: wanted },
    );
    if (continueFrom !== undefined && choice?.workerId !== continueFrom.workerId) {
      this.#refuseContinuation(turn, continueFrom);
      return;
    }
    const worker = this.#workers.find(({ workerId }) => workerId === choice?.workerId);
    if (worker?.hasFreeSlot) this.#start(turn, worker);
    else this.#wait(turn);
  }

  /** Its worker is gone or has too much to do: the caller sends the whole list, to any worker. */
  #refuseContinuation(turn: PoolTurn, sequence: SequenceRef): void {
    this.#waiting.delete(turn);
    if (turn.request.fork !== true) this.release(sequence);
    const message = `worker ${sequence.workerId} cannot continue sequence ${sequence.sequenceId}`;
    turn.fail(new EngineError("ERR_SEQUENCE_RELEASED", message));
  }

  #wait(turn: PoolTurn): void {
    const { maxQueued } = this.#options.engine;
    if (this.#workers.every(({ hasFailed }) => hasFailed)) {
      this.#waiting.delete(turn);
      turn.fail(new EngineError("ERR_ENGINE_FAILED", "no engine worker is left"));
    } else if (this.#waiting.has(turn) || this.#waiting.size < maxQueued) {
      this.#waiting.add(turn);
      turn.queued();
    } else {
      const message = `${maxQueued} turns wait for an engine already`;
      const retryAfterSeconds = this.#queuePace.secondsFor(this.#waiting.size);
      turn.fail(new EngineError("ERR_QUEUE_FULL", message, retryAfterSeconds));
    }
  }

  #placeWaiting(): void {
    for (const turn of this.#waiting) {
      const alive = this.#workers.filter(({ isAlive }) => isAlive);
      if (alive.length > 0 && !alive.some(({ hasFreeSlot }) => hasFreeSlot)) return;
      this.#place(turn);
    }
  }

  #start(turn: PoolTurn, worker: PoolWorker): void {
    if (this.#waiting.delete(turn)) {
      this.#queuePace.taken(performance.now(), this.#waiting.size);
    }
    turn.numStarts++;
    const turnId = ++this.#lastTurnId;
    worker.add(turnId, turn);
    const tokens = turn.request.tokens.slice(); // moved to the worker; the original serves a restart
    const task: TurnTask = { turnId, request: { ...turn.request, tokens } };
    this.#call(worker, "runTurn", task, [tokens.buffer]).catch((thrown: unknown) => {
      const failure = engineFailure(thrown);
      // An open turn could not be sent at all. Else the worker ended, and this says why.
      if (worker.turns.delete(turnId)) turn.fail(new EngineError(failure.code, failure.message));
      else this.#report(failure);
    });
    if (turn.flow?.isPaused) worker.pause(turnId);
  }

  /** Tells the worker that has the turn whether its output is taken. */
  #fitFlow(turn: PoolTurn): void {
    for (const worker of this.#workers) {
      const turnId = worker.turnIdOf(turn);
      if (turnId === undefined) continue;
      if (turn.flow?.isPaused) worker.pause(turnId);
      else worker.resume(turnId);
    }
  }

  #onStep(worker: PoolWorker, updates: readonly TurnUpdate[]): void {
    for (const update of updates) {
      this.#deliver(worker, update);
      if (update.outcome?.type !== "failed") continue;
      // A failed engine is not retried in place: its worker goes, a new one comes.
      const { code } = update.outcome.failure;
      if (code === "ERR_ENGINE_FAILED") void this.terminateWorker(worker.workerId);
    }
    this.#placeWaiting();
  }

  /** A listener that throws ends its own turn; the others of the step go on. */
  #deliver(worker: PoolWorker, update: TurnUpdate): void {
    const turn = worker.turns.get(update.turnId);
    if (update.outcome !== undefined) worker.turns.delete(update.turnId);
    try {
      turn?.deliver(update);
    } catch (thrown) {
      turn?.fail(thrown);
      worker.turns.delete(update.turnId);
      worker.cancel(update.turnId);
    }
  }

  #cancel(turn: PoolTurn): void {
    if (this.#waiting.delete(turn)) turn.abortUnstarted();
    for (const worker of this.#workers) {
      const turnId = worker.turnIdOf(turn);
      if (turnId !== undefined) worker.cancel(turnId);
    }
  }

  #call<Result>(
    worker: PoolWorker,
    name: string,
    task: object,
    transferList: (ArrayBuffer | MessagePort)[] = [],
  ): Promise<Result> {
    const routed = { ...task, [Piscina.queueOptionsSymbol]: worker.workerId };
    return this.#piscina.run(routed, { name, transferList });
  }
}

function closedError(): EngineError {
  return new EngineError("ERR_ENGINE_CLOSED", "the engine pool was closed");
}
