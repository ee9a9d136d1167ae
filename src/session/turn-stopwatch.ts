import type { TurnContext } from "./session-types.ts";
import type { TurnDependencies } from "./turn.ts";

/**
 * Times of one turn: from the request's arrival to its prompt on the engine and to its first token, the
 * gaps between token events, and what each takes on its way to the client.
 */
export class TurnStopwatch {
  readonly #context: TurnContext;
  readonly #dependencies: Pick<TurnDependencies, "clock" | "metrics">;
  #lastMs: number | undefined;

  constructor(context: TurnContext, dependencies: Pick<TurnDependencies, "clock" | "metrics">) {
    this.#context = context;
    this.#dependencies = dependencies;
  }

  /** Call when the engine gets the prompt. */
  submitted(): void {
    const { clock, metrics } = this.#dependencies;
    const { receivedMs, transport } = this.#context;
    metrics.observeSubmit(transport, (clock.nowMs() - receivedMs) / 1000);
  }

  /** `send` passes on what came from the engine. */
  delivery<T>(send: () => T): T {
    const { clock, metrics } = this.#dependencies;
    const startMs = clock.nowMs();
    const sent = send();
    metrics.observeDelivery(this.#context.transport, (clock.nowMs() - startMs) / 1000);
    return sent;
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
