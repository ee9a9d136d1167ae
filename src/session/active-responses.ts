/** Responses that run right now: what a client may see of one by its id, and how it is cancelled. */
import { createDeferred, type Deferred } from "../base/deferred.ts";
import type { OutputItem, ResponseEvent, ResponseObject } from "../protocol/responses-types.ts";
import type { SentItems } from "../protocol/sent-items.ts";
import { EventRecording } from "./event-recording.ts";
import type { Turn, TurnOutcome } from "./turn.ts";

export class ActiveResponse {
  readonly tenant: string;
  /** It can be asked for by its id. */
  readonly isStored: boolean;
  readonly inputItems: SentItems;
  /** undefined: its events are not kept. */
  readonly recording: EventRecording | undefined;
  readonly #cancellation = new AbortController();
  readonly #ended: Deferred<ResponseObject | undefined> = createDeferred();
  readonly #output: OutputItem[] = [];
  #latest: ResponseObject | undefined;

  constructor({ context, request }: Pick<Turn, "context" | "request">) {
    this.tenant = context.tenant;
    this.isStored = request.store;
    this.inputItems = request.inputItems;
    this.recording = request.background ? new EventRecording() : undefined;
    context.cancellation?.addEventListener("abort", () => this.#cancellation.abort());
    if (context.cancellation?.aborted) this.#cancellation.abort();
  }

  /** Aborts when somebody cancels the response; its client then still gets a terminal event. */
  get cancellation(): AbortSignal {
    return this.#cancellation.signal;
  }

  /** As it stands, with the items that are done; undefined before `response.created`. */
  get response(): ResponseObject | undefined {
    return this.#latest && { ...this.#latest, output: [...this.#output] };
  }

  observe(event: ResponseEvent): void {
    this.recording?.push(event);
    if (event.type === "response.output_item.done") this.#output.push(event.item);
    else if ("response" in event) this.#latest = event.response;
  }

  /**
   * How the run ended for those who ask later: a background response that was aborted has no client
   * that could notice, so that it fails.
   */
  settled(outcome: TurnOutcome): TurnOutcome {
    if (!this.recording || outcome.response.status !== "in_progress") return outcome;
    const error = { code: "server_error", message: "The server stopped while it ran." };
    const response = { ...outcome.response, status: "failed", error } as const;
    const sequence_number = this.recording.nextSequenceNumber;
    this.observe({ type: "response.failed", response, sequence_number });
    return { response, lane: undefined };
  }

  /** Resolves with the response as it ended; undefined when it never started. */
  cancel(): Promise<ResponseObject | undefined> {
    this.#cancellation.abort();
    return this.#ended.promise;
  }

  end(response: ResponseObject | undefined): void {
    this.recording?.end();
    this.#ended.resolve(response);
  }
}

export class ActiveResponses {
  readonly #byId = new Map<string, ActiveResponse>();

  get(tenant: string, responseId: string): ActiveResponse | undefined {
    const active = this.#byId.get(responseId);
    return active?.tenant === tenant ? active : undefined;
  }

  start(turn: Turn): ActiveResponse {
    const active = new ActiveResponse(turn);
    this.#byId.set(turn.responseId, active);
    return active;
  }

  end(responseId: string, response: ResponseObject | undefined): void {
    this.#byId.get(responseId)?.end(response);
    this.#byId.delete(responseId);
  }
}
