/**
 * The events of one response in wire order:
 * created -> (queued -> keepalive*)? -> in_progress -> (item events | keepalive)* -> one terminal.
 * Numbers them without gaps and breaks every silence of 12 s with a keepalive. What the events
 * mean for items is `OutputItems`; when they happen is `runTurn`.
 */
import type { Clock } from "../base/clock.ts";
import type {
  OutputCompaction,
  ResponseEvent,
  ResponseEventBody,
  ResponseObject,
  Usage,
} from "../protocol/responses-types.ts";
import type { OutputEvent } from "../text/text-types.ts";
import { OutputItems, type OutputOptions } from "./output-items.ts";
import { type ResponseIdentity, type ResponseProgress, responseObject } from "./response-object.ts";

/** Clients and proxies give up on silence; 15 s is the shortest limit seen. */
const KEEPALIVE_MS = 12_000;

export class ResponseEmitter {
  readonly #identity: ResponseIdentity;
  readonly #emit: (event: ResponseEvent) => void;
  readonly #clock: Clock;
  readonly #output: OutputItems;
  #sequenceNumber = 0;
  #phase: "unsent" | "created" | "queued" | "in_progress" | "ended" = "unsent";
  #cancelKeepalive: (() => void) | undefined;

  constructor(
    identity: ResponseIdentity,
    output: OutputOptions,
    clock: Clock,
    emit: (event: ResponseEvent) => void,
  ) {
    this.#identity = identity;
    this.#clock = clock;
    this.#emit = emit;
    this.#output = new OutputItems((body) => this.#send(body), output);
  }

  get isCreated(): boolean {
    return this.#phase !== "unsent";
  }

  get output(): Pick<OutputItems, "items" | "hasDroppedCall"> {
    return this.#output;
  }

  /** Idempotent. */
  created(): void {
    if (this.#phase !== "unsent") return;
    this.#phase = "created";
    this.#send({ type: "response.created", response: this.#snapshot({ status: "in_progress" }) });
  }

  /** At most once, before `inProgress`; later calls say nothing. */
  queued(): void {
    if (this.#phase !== "unsent" && this.#phase !== "created") return;
    const response = this.#snapshot({ status: "queued" });
    if (this.#phase === "unsent") this.#send({ type: "response.created", response });
    this.#phase = "queued";
    this.#send({ type: "response.queued", response });
  }

  /** Idempotent. */
  inProgress(): void {
    if (this.#phase === "in_progress" || this.#phase === "ended") return;
    this.created();
    this.#phase = "in_progress";
    const response = this.#snapshot({ status: "in_progress" });
    this.#send({ type: "response.in_progress", response });
  }

  push(events: readonly OutputEvent[]): void {
    this.inProgress();
    this.#output.push(events);
  }

  /** The context is being summed up; before anything is generated. */
  compacting(): void {
    this.inProgress();
    this.#output.startCompaction();
  }

  compacted(summary: string): OutputCompaction {
    return this.#output.finishCompaction(summary);
  }

  completed(usage: Usage): ResponseObject {
    this.inProgress();
    this.#output.finish("completed");
    const completedAt = this.#clock.unixSeconds();
    return this.#end("response.completed", { status: "completed", completedAt, usage });
  }

  /** A warmup or a compaction: no item of an answer appears. */
  completedUnanswered(usage: Usage): ResponseObject {
    this.inProgress();
    const completedAt = this.#clock.unixSeconds();
    return this.#end("response.completed", { status: "completed", completedAt, usage });
  }

  reachedTokenCap(usage: Usage): ResponseObject {
    this.inProgress();
    this.#output.finish("incomplete");
    const incompleteReason = "max_output_tokens";
    return this.#end("response.incomplete", { status: "incomplete", incompleteReason, usage });
  }

  /** Also straight from the queue. Only finished items are in its output. */
  failed(code: string, message: string): ResponseObject {
    this.created();
    return this.#end("response.failed", { status: "failed", error: { code, message } });
  }

  /** Also straight from the queue. What is open closes as it stands. */
  cancelled(usage: Usage | undefined): ResponseObject {
    this.created();
    this.#output.finish("incomplete");
    return this.#end("response.incomplete", { status: "cancelled", ...(usage && { usage }) });
  }

  /** The client is gone: nothing is sent any more, and the response never ends. */
  abandoned(): ResponseObject {
    this.#cancelKeepalive?.();
    this.#phase = "ended";
    return this.#snapshot({ status: "in_progress", output: this.#output.items });
  }

  #end(
    type: "response.completed" | "response.incomplete" | "response.failed",
    progress: ResponseProgress,
  ): ResponseObject {
    const response = this.#snapshot({ ...progress, output: this.#output.items });
    this.#phase = "ended";
    this.#send({ type, response });
    return response;
  }

  #snapshot(progress: ResponseProgress): ResponseObject {
    return responseObject(this.#identity, progress);
  }

  #send(body: ResponseEventBody): void {
    this.#cancelKeepalive?.();
    this.#emit({ ...body, sequence_number: this.#sequenceNumber++ });
    if (this.#phase === "ended") return;
    this.#cancelKeepalive = this.#clock.schedule(KEEPALIVE_MS, () =>
      this.#send({ type: "keepalive" }),
    );
  }
}
