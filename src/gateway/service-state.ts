/**
 * The gateway's phase and the work that is running. API routes get the session only while it may
 * be used; drain waits here for what has started.
 */
import { overloaded } from "../protocol/engine-error-map.ts";
import type { SessionService } from "../session/session-types.ts";
import { shuttingDown } from "./interrupted-response.ts";

export type Phase = "loading" | "ready" | "draining";

export class ServiceState {
  #phase: Phase = "loading";
  #session: SessionService | undefined;
  readonly #running = new Set<AbortController>();
  #onIdle: () => void = ignore;

  get phase(): Phase {
    return this.#phase;
  }

  /** undefined before the model is loaded; also set while draining. */
  get session(): SessionService | undefined {
    return this.#session;
  }

  setReady(session: SessionService): void {
    this.#session = session;
    if (this.#phase === "loading") this.#phase = "ready";
  }

  setDraining(): void {
    this.#phase = "draining";
  }

  /** @throws {ApiError} 503 while loading or draining */
  requireSession(): SessionService {
    if (this.#phase === "draining") throw shuttingDown();
    if (this.#session === undefined) throw overloaded("The model is still loading.");
    return this.#session;
  }

  /** Work that a drain waits for, until `remove`; aborted when the drain's deadline passes. */
  add(controller: AbortController): void {
    this.#running.add(controller);
  }

  remove(controller: AbortController): void {
    this.#running.delete(controller);
    if (this.#running.size === 0) this.#onIdle();
  }

  /** Resolves when nothing runs or after `timeoutMs`. One caller at a time. */
  async waitIdle(timeoutMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#onIdle = ignore;
  }

  abortRunning(): void {
    for (const controller of this.#running) controller.abort();
  }
}

function ignore(): void {
  // Nobody waits for idleness.
}
