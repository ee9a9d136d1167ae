/**
 * One engine worker thread as the pool sees it: its port, its open turns and its load. A thread that
 * dies is replaced by a new PoolWorker with another id, so that handles and late counts of the old
 * one cannot be mistaken.
 */
import type { MessagePort } from "node:worker_threads";
import type { WorkerSnapshot } from "./endpoint.ts";
import type { ControlMessage } from "./pool-messages.ts";
import type { PoolTurn } from "./pool-turn.ts";

export class PoolWorker {
  readonly workerId: number;
  /** Turns without an outcome, by turn id: the slots in use. */
  readonly turns = new Map<number, PoolTurn>();
  readonly #slots: number;
  /** Lost: a replacement comes. Failed: it never opened an engine, and another try would not either. */
  #state: "starting" | "alive" | "lost" | "failed" = "starting";
  #port: MessagePort | undefined;
  #lastTurnId = 0;
  #startedTurns = 0;

  constructor(workerId: number, slots: number) {
    this.workerId = workerId;
    this.#slots = slots;
  }

  get isAlive(): boolean {
    return this.#state === "alive";
  }

  get isLost(): boolean {
    return this.#state === "lost";
  }

  get hasFailed(): boolean {
    return this.#state === "failed";
  }

  get hasFreeSlot(): boolean {
    return this.isAlive && this.turns.size < this.#slots;
  }

  attached(port: MessagePort): void {
    this.#state = "alive";
    this.#port = port;
  }

  /** @returns the turns that ended with it */
  bury(): readonly PoolTurn[] {
    this.#state = this.isAlive ? "lost" : "failed";
    this.#port?.close();
    const orphans = [...this.turns.values()];
    this.turns.clear();
    return orphans;
  }

  turnIdOf(turn: PoolTurn): number | undefined {
    for (const [turnId, candidate] of this.turns) {
      if (candidate === turn) return turnId;
    }
    return undefined;
  }

  cancel(turnId: number): void {
    this.#control({ type: "cancel", afterTurnId: turnId });
  }

  /** Computes nothing for the turn until `resume`. */
  pause(turnId: number): void {
    this.#control({ type: "pause", afterTurnId: turnId });
  }

  resume(turnId: number): void {
    this.#control({ type: "resume", afterTurnId: turnId });
  }

  /** Gives a live sequence up, after every turn it was given so far. */
  release(sequenceId: number): void {
    this.#control({ type: "release", sequenceId, afterTurnId: this.#lastTurnId });
  }

  /** The turn takes a slot until it leaves `turns`. */
  add(turnId: number, turn: PoolTurn): void {
    this.turns.set(turnId, turn);
    this.#lastTurnId = turnId;
    this.#startedTurns++;
  }

  snapshot(): WorkerSnapshot {
    let queuedTokens = 0;
    for (const turn of this.turns.values()) queuedTokens += turn.queuedTokens;
    return {
      workerId: this.workerId,
      inFlight: this.turns.size,
      queuedTokens,
      slots: this.#slots,
      startedTurns: this.#startedTurns,
      isAlive: this.isAlive,
    };
  }

  #control(message: ControlMessage): void {
    if (this.isAlive) this.#port?.postMessage(message);
  }
}
