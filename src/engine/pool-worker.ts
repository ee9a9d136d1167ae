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
  /** Turns without an outcome, by turn id. */
  readonly turns = new Map<number, PoolTurn>();
  readonly #slots: number;
  /** Lost: a replacement comes. Failed: it never opened an engine, and another try would not either. */
  #state: "starting" | "alive" | "lost" | "failed" = "starting";
  #port: MessagePort | undefined;
  #inFlight = 0;
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
    return this.isAlive && this.#inFlight < this.#slots;
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

  control(message: ControlMessage): void {
    if (this.isAlive) this.#port?.postMessage(message);
  }

  /** Every path that takes a slot gives it back exactly once. */
  takeSlot(): void {
    this.#inFlight++;
    this.#startedTurns++;
  }

  freeSlot(): void {
    this.#inFlight--;
  }

  snapshot(): WorkerSnapshot {
    let queuedTokens = 0;
    for (const turn of this.turns.values()) queuedTokens += turn.queuedTokens;
    return {
      workerId: this.workerId,
      inFlight: this.#inFlight,
      queuedTokens,
      slots: this.#slots,
      startedTurns: this.#startedTurns,
      isAlive: this.isAlive,
    };
  }
}
