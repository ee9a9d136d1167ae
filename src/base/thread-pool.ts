/**
 * Threads for what would hold up the event loop. The first task starts one. Workers run compiled code,
 * also when their caller itself runs from `src/`.
 */
import path from "node:path";
import { Piscina } from "piscina";

const COMPILED = path.join(import.meta.dirname, "../../dist");

export interface ThreadPoolOptions {
  /** Of the worker, relative to `dist/`: it exports a function for each kind of task. */
  readonly file: string;
  readonly maxThreads: number;
  /** Of a thread without work; default: it stays. */
  readonly idleTimeoutMs?: number;
  readonly workerData?: unknown;
}

export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  #piscina: Piscina | undefined;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
  }

  /** @param name of the worker's function */
  run(name: string, task: unknown, transferList: readonly ArrayBuffer[] = []): Promise<unknown> {
    this.#piscina ??= this.#start();
    return this.#piscina.run(task, { name, transferList: [...transferList] });
  }

  /** What still runs fails. */
  async close(): Promise<void> {
    await this.#piscina?.destroy();
    this.#piscina = undefined;
  }

  #start(): Piscina {
    const { file, maxThreads, idleTimeoutMs, workerData } = this.#options;
    return new Piscina({
      filename: path.join(COMPILED, file),
      workerData,
      minThreads: 0,
      maxThreads,
      idleTimeout: idleTimeoutMs ?? Number.POSITIVE_INFINITY,
      atomics: "disabled",
      recordTiming: false,
    });
  }
}
