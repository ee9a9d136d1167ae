/** When the tokens of chosen requests came, from the events of an engine's steps. */
export class TokenGaps {
  #last = new Map();
  #ms = [];
  #steps = [];

  /** Gaps of these requests are collected from now on. */
  watch(requestIds) {
    this.#last = new Map(requestIds.map((id) => [id, undefined]));
  }

  /** `numSteps` is the engine's count at this moment; when JS lags, it runs ahead of the event. */
  observe(step, numSteps, now = performance.now()) {
    step.requestIds.forEach((id, i) => {
      const numTokens = step.tokenStart[i + 1] - step.tokenStart[i];
      if (numTokens === 0 || !this.#last.has(id)) return;
      const last = this.#last.get(id);
      if (last !== undefined) {
        this.#ms.push(now - last.now);
        this.#steps.push(numSteps - last.numSteps);
      }
      this.#last.set(id, { now, numSteps });
    });
  }

  /** All gaps since the last call. */
  take() {
    const taken = { ms: this.#ms, steps: this.#steps };
    this.#ms = [];
    this.#steps = [];
    this.#last = new Map();
    return taken;
  }
}
