/** Whether the one who takes an output keeps up. The one who makes it listens, and stops meanwhile. */
export class OutputFlow {
  #isPaused = false;
  readonly #listeners = new Set<() => void>();

  get isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#set(true);
  }

  resume(): void {
    this.#set(false);
  }

  /** Calls back at every change; the function that is returned forgets the listener. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #set(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    for (const listener of this.#listeners) listener();
  }
}
