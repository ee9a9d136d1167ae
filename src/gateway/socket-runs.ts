/** What runs on one WebSocket, and which of it a `response.cancel` means. */
import type { ResponseEvent } from "../protocol/responses-types.ts";

export interface Cancellable {
  /** undefined is the connection's default lane. */
  readonly streamId: string | undefined;
  /** Aborted by a `response.cancel`; the client still gets a terminal event. */
  readonly cancellation: AbortController;
}

export class SocketRun {
  readonly request: Cancellable;
  /** Ends it without a word: its client is gone. */
  readonly controller = new AbortController();
  responseId: string | undefined;

  constructor(request: Cancellable) {
    this.request = request;
  }

  observe(event: ResponseEvent): void {
    if (event.type === "response.created") this.responseId = event.response.id;
  }
}

export class SocketRuns {
  readonly #runs = new Set<SocketRun>();

  start(request: Cancellable): SocketRun {
    const run = new SocketRun(request);
    this.#runs.add(run);
    return run;
  }

  end(run: SocketRun): void {
    this.#runs.delete(run);
  }

  onLane(streamId: string | undefined): Cancellable | undefined {
    return [...this.#runs].find(({ request }) => request.streamId === streamId)?.request;
  }

  withId(responseId: unknown): Cancellable | undefined {
    return [...this.#runs].find((run) => run.responseId === responseId)?.request;
  }

  abortAll(): void {
    for (const { controller } of this.#runs) controller.abort();
  }
}
