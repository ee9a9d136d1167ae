/**
 * Reads the frames of one WebSocket in the order of their arrival. A large frame is parsed on another thread;
 * those behind it wait for it, and `isBusy` tells that no more should be read meanwhile.
 */
import type { RequestParser } from "./request-parser.ts";
import type { ClientFrame } from "./client-frame.ts";

export interface ReceivedFrame {
  readonly payload: Buffer;
  readonly isBinary: boolean;
  /** `performance.now()` when the frame was complete. */
  readonly receivedMs: number;
}

export interface FrameIntakeOptions {
  readonly parser: RequestParser;
  readonly tenant: string;
  readonly onFrame: (frame: ClientFrame, received: ReceivedFrame) => void;
  readonly onError: (error: unknown, received: ReceivedFrame) => void;
  /** Everything that was received has been read. */
  readonly onIdle: () => void;
}

export class FrameIntake {
  readonly #options: FrameIntakeOptions;
  /** The first one is being parsed on another thread. */
  readonly #waiting: ReceivedFrame[] = [];

  constructor(options: FrameIntakeOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  push(received: ReceivedFrame): void {
    const { parser, tenant } = this.#options;
    if (!this.isBusy && parser.isInline(received.payload)) {
      this.#read(received, () => parser.parseInline("frame", received.payload, tenant));
      return;
    }
    this.#waiting.push(received);
    if (this.#waiting.length === 1) void this.#readWaiting(received);
  }

  async #readWaiting(first: ReceivedFrame): Promise<void> {
    for (let received: ReceivedFrame | undefined = first; received; [received] = this.#waiting) {
      const [outcome] = await Promise.allSettled([
        this.#options.parser.parse("frame", received.payload, this.#options.tenant),
      ]);
      this.#read(received, () => {
        if (outcome.status === "rejected") throw outcome.reason;
        return outcome.value;
      });
      this.#waiting.shift();
    }
    this.#options.onIdle();
  }

  #read(received: ReceivedFrame, parse: () => ClientFrame): void {
    let frame: ClientFrame;
    try {
      frame = parse();
    } catch (error) {
      this.#options.onError(error, received);
      return;
    }
    this.#options.onFrame(frame, received);
  }
}
