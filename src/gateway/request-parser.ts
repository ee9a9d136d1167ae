/**
 * Parses and validates what clients send. A large payload goes to a pool of worker threads, so that it
 * does not hold up the others; the threads start with the first one and end when none came for a while.
 */
import { fromSlices } from "../base/slices.ts";
import { ThreadPool } from "../base/thread-pool.ts";
import { acceptedOf } from "../protocol/api-error.ts";
import { RepeatedFields } from "../protocol/repeated-fields.ts";
import type { ParseAnswer, ParseTask } from "./parse-worker.ts";
import { type ParsedRequest, REQUEST_FORMS, type RequestForm, requestIn } from "./request-forms.ts";

/** Up to here a payload takes a few milliseconds, and the way to a thread and back saves little. */
export const MAX_INLINE_BYTES = 256 * 1024;
/** A second one, so that one slow payload does not hold up the next. */
const MAX_THREADS = 2;
const IDLE_TIMEOUT_MS = 30_000;

export class RequestParser {
  readonly #pool = new ThreadPool({
    file: "gateway/parse-worker.js",
    maxThreads: MAX_THREADS,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
  });

  /** Tools are written in two ways: what one of them means is no answer to the other. */
  readonly #repeated = {
    chat: new Map<string, RepeatedFields>(),
    responses: new Map<string, RepeatedFields>(),
  };

  isInline(payload: Uint8Array): boolean {
    return payload.byteLength <= MAX_INLINE_BYTES;
  }

  /** For a small payload. @throws {ApiError} 400 */
  parseInline<F extends RequestForm>(form: F, payload: Uint8Array, tenant: string) {
    return REQUEST_FORMS[form](payload, this.#repeatedBy(tenant, form)) as ParsedRequest<F>;
  }

  /** @throws {ApiError} 400 */
  async parse<F extends RequestForm>(
    form: F,
    payload: Uint8Array,
    tenant: string,
  ): Promise<ParsedRequest<F>> {
    if (this.isInline(payload)) return this.parseInline(form, payload, tenant);
    const copy = new Uint8Array(payload); // to give away
    const task: ParseTask = { form, payload: copy };
    const answer = (await this.#pool.run("parse", task, [copy.buffer])) as ParseAnswer;
    const { parsed, input } = acceptedOf(answer);
    const request = requestIn(parsed);
    if (request) Object.assign(request, { input: await fromSlices(input) });
    return parsed as ParsedRequest<F>;
  }

  /** There are as many tenants as the operator has named. */
  #repeatedBy(tenant: string, form: RequestForm): RepeatedFields {
    const byTenant = this.#repeated[form === "chat" ? "chat" : "responses"];
    const known = byTenant.get(tenant) ?? new RepeatedFields();
    byTenant.set(tenant, known);
    return known;
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}
