/**
 * The events of one response, kept so that they can be sent again: number i of the stream is entry i.
 * Readers pull at their own pace, also while it is still written. Bounded: a response that says more
 * than that is not recorded to its end, and its readers stop there.
 */
import { createDeferred, type Deferred } from "../base/deferred.ts";
import type { ResponseEvent } from "../protocol/responses-types.ts";

/** About 100,000 deltas. */
const MAX_BYTES = 32 * 1024 * 1024;
const EVENT_BYTES = 256; // an event as an object, without its texts

export class EventRecording {
  readonly #events: ResponseEvent[] = [];
  #bytes = 0;
  #hasEnded = false;
  #changed: Deferred<void> = createDeferred();

  get bytes(): number {
    return this.#bytes;
  }

  get nextSequenceNumber(): number {
    return this.#events.length;
  }

  push(event: ResponseEvent): void {
    if (this.#hasEnded) return;
    this.#bytes += eventBytes(event);
    if (this.#bytes > MAX_BYTES) {
      this.end();
      return;
    }
    this.#events.push(event);
    this.#wake();
  }

  /** Nothing follows. Idempotent. */
  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  /** What came behind the event of that number and still comes. */
  async *follow(startingAfter: number): AsyncGenerator<ResponseEvent, void> {
    for (let next = startingAfter + 1; ; ) {
      const event = this.#events[next];
      if (event) {
        next++;
        yield event;
      } else if (this.#hasEnded) return;
      else await this.#changed.promise;
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = createDeferred();
  }
}

function eventBytes(event: ResponseEvent): number {
  if ("delta" in event) return EVENT_BYTES + event.delta.length * 2;
  return EVENT_BYTES + JSON.stringify(event).length * 2;
}
