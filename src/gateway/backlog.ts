/**
 * Back-pressure towards one client. Above the soft mark its generation pauses, and text deltas that still
 * come are merged instead of queued; a client that passes the hard mark, or does not drain in time, is cut off. Nothing else limits
 * what a socket may queue off-heap.
 */
import { OutputFlow } from "../base/output-flow.ts";
import type { ResponseEvent } from "../protocol/responses-types.ts";
import type { GatewayLimits } from "./gateway-options.ts";

export interface BacklogOptions {
  readonly limits: GatewayLimits;
  /** Bytes that the kernel has not yet taken: what the socket holds, and what mergers hold back. */
  readonly bufferedBytes: () => number;
  /** Called once, when the client is too slow. */
  readonly onOverflow: () => void;
}

export class Backlog {
  /** Paused from the soft mark until everything was taken. */
  readonly flow = new OutputFlow();
  readonly #options: BacklogOptions;
  #timer: NodeJS.Timeout | undefined;
  #hasOverflowed = false;

  constructor(options: BacklogOptions) {
    this.#options = options;
  }

  get isCongested(): boolean {
    return this.#options.bufferedBytes() > this.#options.limits.softBacklogBytes;
  }

  /** Call after every write, and when more is held back. */
  check(): void {
    const { limits, bufferedBytes } = this.#options;
    if (bufferedBytes() > limits.hardBacklogBytes) this.#overflow();
    else if (this.isCongested) {
      this.flow.pause();
      this.#timer ??= this.#startTimer(limits.drainTimeoutMs);
    }
  }

  /** Call when the socket has drained, and when it is gone. */
  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.flow.resume();
  }

  #startTimer(drainTimeoutMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#overflow(), drainTimeoutMs).unref();
  }

  #overflow(): void {
    this.reset();
    if (this.#hasOverflowed) return;
    this.#hasOverflowed = true;
    this.#options.onOverflow();
  }
}

const DELTA_TYPES = [
  "response.output_text.delta",
  "response.reasoning_text.delta",
  "response.reasoning_summary_text.delta",
  "response.function_call_arguments.delta",
  "response.custom_tool_call_input.delta",
] as const;

type DeltaEvent = Extract<ResponseEvent, { type: (typeof DELTA_TYPES)[number] }>;

/**
 * Merges neighbouring deltas of one response while its client is behind, and numbers what follows
 * so that the client sees no gap.
 */
export class DeltaMerger {
  readonly #isCongested: () => boolean;
  readonly #send: (event: ResponseEvent) => void;
  #held: DeltaEvent | undefined;
  #numMerged = 0;
  #numPushed = 0;

  constructor(isCongested: () => boolean, send: (event: ResponseEvent) => void) {
    this.#isCongested = isCongested;
    this.#send = send;
  }

  /** Number of the next event in the numbering of the one who pushes. */
  get nextSequenceNumber(): number {
    return this.#numPushed;
  }

  /** Of the text that is held back, about. */
  get heldBytes(): number {
    return this.#held?.delta.length ?? 0;
  }

  push(event: ResponseEvent): void {
    this.#numPushed++;
    if (this.#held !== undefined && isSameText(this.#held, event) && this.#isCongested()) {
      this.#held = joined(this.#held, event);
      this.#numMerged++;
      return;
    }
    this.flush();
    const numbered = { ...event, sequence_number: event.sequence_number - this.#numMerged };
    if (isDelta(numbered) && this.#isCongested()) this.#held = numbered;
    else this.#send(numbered);
  }

  /** Sends what is held back; call when the socket has drained. */
  flush(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#send(held);
  }
}

function isDelta(event: ResponseEvent): event is DeltaEvent {
  return DELTA_TYPES.some((type) => type === event.type);
}

function joined(held: DeltaEvent, next: DeltaEvent): DeltaEvent {
  const delta = held.delta + next.delta;
  if (!("logprobs" in held && "logprobs" in next)) return { ...held, delta };
  return { ...held, delta, logprobs: [...held.logprobs, ...next.logprobs] };
}

function isSameText(held: DeltaEvent, event: ResponseEvent): event is DeltaEvent {
  return isDelta(event) && event.type === held.type && event.item_id === held.item_id;
}
