/**
 * Parses and validates what clients send. A large payload goes to a pool of worker threads, so that it
 * does not hold up the others; the threads start with the first one and end when none came for a while.
 */
import path from "node:path";
import { Piscina } from "piscina";
import { acceptedOf } from "../protocol/api-error.ts";
import type { ParseAnswer, ParseTask } from "./parse-worker.ts";
import { type ParsedRequest, REQUEST_FORMS, type RequestForm } from "./request-forms.ts";

/** Workers run compiled code, also when the gateway itself runs from `src/`. */
const WORKER_FILE = path.join(import.meta.dirname, "../../dist/gateway/parse-worker.js");
/** Up to here a payload takes a few milliseconds, and the way to a thread and back saves little. */
export const MAX_INLINE_BYTES = 256 * 1024;
/** A second one, so that one slow payload does not hold up the next. */
const MAX_THREADS = 2;
const IDLE_TIMEOUT_MS = 30_000;

export class RequestParser {
  #pool: Piscina | undefined;

  isInline(payload: Uint8Array): boolean {
    return payload.byteLength <= MAX_INLINE_BYTES;
  }

  /** @throws {ApiError} 400 */
  async parse<F extends RequestForm>(form: F, payload: Uint8Array): Promise<ParsedRequest<F>> {
    if (this.isInline(payload)) return REQUEST_FORMS[form](payload) as ParsedRequest<F>;
    this.#pool ??= createPool();
    const task: ParseTask = { form, payload: new Uint8Array(payload) }; // a copy to give away
    const transferList = [task.payload.buffer as ArrayBuffer];
    const answer: ParseAnswer = await this.#pool.run(task, { transferList });
    return acceptedOf(answer) as ParsedRequest<F>;
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
    this.#pool = undefined;
  }
}

function createPool(): Piscina {
  return new Piscina({
    filename: WORKER_FILE,
    name: "parse",
    minThreads: 0,
    maxThreads: MAX_THREADS,
    idleTimeout: IDLE_TIMEOUT_MS,
    atomics: "disabled",
    recordTiming: false,
  });
}
