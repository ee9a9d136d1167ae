/**
 * Responses by their ids, running or stored: what the routes of one response show and do. Another
 * tenant's id is as unknown as one that never was.
 */
import { LRUCache } from "lru-cache";
import { ApiError, invalidRequest } from "../protocol/api-error.ts";
import { quote } from "../protocol/field-reader.ts";
import type { ResponseEvent, ResponseObject } from "../protocol/responses-types.ts";
import type { SentItems } from "../protocol/sent-items.ts";
import type { ActiveResponse, ActiveResponses } from "./active-responses.ts";
import type { EventRecording } from "./event-recording.ts";
import type { ResponseLookup } from "./session-types.ts";
import type { ResponseStore } from "./store/response-store.ts";

/** Of responses that have ended. */
const MAX_RECORDED_BYTES = 64 * 1024 * 1024;

export class ResponseDirectory implements ResponseLookup {
  readonly #store: ResponseStore;
  readonly #active: ActiveResponses;
  readonly #recordings = new LRUCache<string, EventRecording>({
    maxSize: MAX_RECORDED_BYTES,
    sizeCalculation: (recording) => recording.bytes + 1,
  });

  constructor(store: ResponseStore, active: ActiveResponses) {
    this.#store = store;
    this.#active = active;
  }

  get(tenant: string, responseId: string): ResponseObject {
    const running = this.#running(tenant, responseId)?.response;
    return running ?? this.#stored(tenant, responseId).response;
  }

  inputItems(tenant: string, responseId: string): SentItems {
    const running = this.#running(tenant, responseId)?.inputItems;
    return running ?? this.#stored(tenant, responseId).inputItems;
  }

  async delete(tenant: string, responseId: string): Promise<void> {
    await this.#running(tenant, responseId)?.cancel();
    this.#recordings.delete(responseId);
    if (!(await this.#store.delete(tenant, responseId))) throw unknownResponse(responseId);
  }

  async cancel(tenant: string, responseId: string): Promise<ResponseObject> {
    const cancelled = await this.#active.get(tenant, responseId)?.cancel();
    const response = cancelled ?? this.#stored(tenant, responseId).response;
    if (response.status === "cancelled") return response;
    const message = `The response is ${response.status} and can no longer be cancelled.`;
    throw new ApiError(409, "invalid_request_error", "conflict", message, "response_id");
  }

  follow(tenant: string, responseId: string, startingAfter: number): AsyncIterable<ResponseEvent> {
    const running = this.#running(tenant, responseId);
    if (!running) this.#stored(tenant, responseId);
    const recording = running ? running.recording : this.#recordings.get(responseId);
    if (recording) return recording.follow(startingAfter);
    const message = "The events of this response are not recorded; only background ones are.";
    throw invalidRequest("unsupported_parameter", message, "stream");
  }

  /** Keeps what was recorded of a response that has ended. */
  keepRecording(responseId: string, recording: EventRecording): void {
    this.#recordings.set(responseId, recording);
  }

  #running(tenant: string, responseId: string): ActiveResponse | undefined {
    const active = this.#active.get(tenant, responseId);
    return active?.isStored ? active : undefined;
  }

  /** @throws {ApiError} 404 */
  #stored(tenant: string, responseId: string) {
    const stored = this.#store.get(tenant, responseId);
    if (stored) return stored;
    throw unknownResponse(responseId);
  }
}

function unknownResponse(id: string): ApiError {
  const message = `There is no response ${quote(id)}.`;
  return new ApiError(404, "invalid_request_error", "response_not_found", message, "response_id");
}
