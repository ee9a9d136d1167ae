/**
 * Threads that compose large prompts. The first large prompt starts one; they stay, because opening a
 * vocabulary takes longer than composing most prompts.
 */
import { ThreadPool } from "../base/thread-pool.ts";
import { acceptedOf } from "../protocol/api-error.ts";
import type { ComposeAnswer, ComposeWorkerData } from "./compose-worker.ts";
import type { RemoteComposer } from "./prompt-builder.ts";
import type { ComposedPrompt, ComposeRequest } from "./prompt-composer.ts";

/** A second one, so that one slow prompt does not hold up the next. */
const MAX_THREADS = 2;

export class ComposePool implements RemoteComposer {
  readonly #pool: ThreadPool;

  constructor(workerData: ComposeWorkerData) {
    const file = "session/compose-worker.js";
    this.#pool = new ThreadPool({ file, maxThreads: MAX_THREADS, workerData });
  }

  /** @throws {ApiError} as `PromptComposer.compose` */
  async compose(request: ComposeRequest): Promise<ComposedPrompt> {
    return acceptedOf((await this.#pool.run("compose", request)) as ComposeAnswer);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}
