/**
 * The engine's sequence behind a state, possibly still being prefilled. One turn advances it; others
 * branch off, also when it has been advanced: the sequence that took it over begins with its tokens.
 */
import type { EngineEndpoint, SequenceRef } from "../engine/endpoint.ts";

/** `advance`: the turn takes the sequence over. `branch`: it stays usable for another. */
export type SequenceUse = "advance" | "branch";

/** Where a turn goes on from. */
export interface JoinedSequence {
  /** Its `numTokens` are those of the state, which the engine's sequence begins with. */
  readonly ref: SequenceRef;
  /** The turn branches off, and the sequence stays as it is. */
  readonly isFork: boolean;
}

export class LiveSequence {
  readonly #endpoint: Pick<EngineEndpoint, "release">;
  readonly #ready: Promise<SequenceRef | undefined>;
  #isUsable = true;
  #numHolders = 0;
  #workerId: number | undefined;
  #successor: LiveSequence | undefined;

  /**
   * @param ready must not reject
   * @param parentWorkerId where the lane ran before, for a state without a sequence
   */
  constructor(
    endpoint: Pick<EngineEndpoint, "release">,
    ready: SequenceRef | undefined | Promise<SequenceRef | undefined>,
    parentWorkerId?: number,
  ) {
    this.#endpoint = endpoint;
    this.#workerId = parentWorkerId;
    this.#ready = Promise.resolve(ready).then((sequence) => {
      this.#workerId = sequence?.workerId ?? parentWorkerId;
      return sequence;
    });
  }

  /** The worker whose cache knows the lane; known once the sequence is ready. */
  get workerId(): number | undefined {
    return this.#workerId;
  }

  /**
   * A state can be advanced once: other turns branch off, from the sequence that has taken it over.
   * undefined: there is none any more.
   */
  async join(use: SequenceUse): Promise<JoinedSequence | undefined> {
    const isAdvanced = use === "advance" && this.#isUsable;
    if (isAdvanced) this.#isUsable = false;
    const own = await this.#ready;
    if (!own) return undefined;
    if (isAdvanced) return { ref: own, isFork: false };
    const holder = await this.#usableHolder();
    return holder && { ref: { ...holder, numTokens: own.numTokens }, isFork: true };
  }

  /** A turn went on from this state, and kept all of its tokens. */
  continuesAs(successor: LiveSequence): void {
    this.#successor = successor;
  }

  async #usableHolder(): Promise<SequenceRef | undefined> {
    let holder: LiveSequence | undefined = this;
    while (holder && !holder.#isUsable) holder = holder.#successor;
    if (!holder) return undefined;
    const sequence = await holder.#ready;
    return holder.#isUsable ? sequence : undefined;
  }

  get isHeld(): boolean {
    return this.#numHolders > 0;
  }

  /** Others than the one asking may go on from it. */
  get isShared(): boolean {
    return this.#numHolders > 1;
  }

  /** For a cache; each of them releases it once. */
  hold(): void {
    this.#numHolders++;
  }

  /** Its blocks become ordinary cached blocks when the last holder does so; not one that was taken. */
  release(): void {
    this.#numHolders--;
    if (!this.#isUsable || this.#numHolders > 0) return;
    this.#isUsable = false;
    void this.#ready.then((sequence) => {
      if (sequence) this.#endpoint.release(sequence);
    });
  }
}
