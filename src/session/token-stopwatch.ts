import type { TurnContext } from "./session-types.ts";
import type { TurnDependencies } from "./turn.ts";

/** Time to the first token from the request's arrival, then the gaps between token events. */
export class TokenStopwatch {
  readonly #context: TurnContext;
  readonly #dependencies: Pick<TurnDependencies, "clock" | "metrics">;
  #lastMs: number | undefined;

  constructor(context: TurnContext, dependencies: Pick<TurnDependencies, "clock" | "metrics">) {
    this.#context = context;
    this.#dependencies = dependencies;
  }

  /** Call after the token's event was sent. */
  mark(): void {
    const { clock, metrics } = this.#dependencies;
    const { receivedMs, transport } = this.#context;
    const nowMs = clock.nowMs();
    if (this.#lastMs === undefined) {
      metrics.observeFirstToken(transport, (nowMs - receivedMs) / 1000);
    } else {
      metrics.observeTokenGap(transport, (nowMs - this.#lastMs) / 1000);
    }
    this.#lastMs = nowMs;
  }
}
