/**
 * Threads that compose large prompts. The first large prompt starts one; they stay, because opening a
 * vocabulary takes longer than composing most prompts.
 */
import path from "node:path";
import { Piscina } from "piscina";
import { acceptedOf } from "../protocol/api-error.ts";
import type { ComposeAnswer, ComposeWorkerData } from "./compose-worker.ts";
import type { RemoteComposer } from "./prompt-builder.ts";
import type { ComposedPrompt, ComposeRequest } from "./prompt-composer.ts";

/** Workers run compiled code, also when the session itself runs from `src/`. */
const WORKER_FILE = path.join(import.meta.dirname, "../../dist/session/compose-worker.js");
/** A second one, so that one slow prompt does not hold up the next. */
const MAX_THREADS = 2;

export class ComposePool implements RemoteComposer {
  readonly #workerData: ComposeWorkerData;
  #pool: Piscina | undefined;

  constructor(workerData: ComposeWorkerData) {
    this.#workerData = workerData;
  }

  /** @throws {ApiError} as `PromptComposer.compose` */
  async compose(request: ComposeRequest): Promise<ComposedPrompt> {
    this.#pool ??= this.#createPool();
    const answer: ComposeAnswer = await this.#pool.run(request);
    return acceptedOf(answer);
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
    this.#pool = undefined;
  }

  #createPool(): Piscina {
    return new Piscina({
      filename: WORKER_FILE,
      name: "compose",
      workerData: this.#workerData,
      minThreads: 0,
      maxThreads: MAX_THREADS,
      idleTimeout: Number.POSITIVE_INFINITY,
      atomics: "disabled",
      recordTiming: false,
    });
  }
}
