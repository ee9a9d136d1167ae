/**
 * Streams of Chat Completions and Completions: chunks as SSE data without event names, comment lines in
 * silence, `[DONE]` at the end. An error behind the first chunk is one more chunk, and the last.
 */
import type { ApiError } from "../protocol/api-error.ts";
import type { ResponseEvent } from "../protocol/responses-types.ts";
import type { RunResponse } from "../session/session-types.ts";
import {
  answerWithEvents,
  failedError,
  type HttpExchange,
  rejectsFailure,
} from "./http-exchange.ts";
import { DONE, type SseStream } from "./sse.ts";

export interface ChunkEncoder {
  /** @param choice index of the event's response */
  encode(event: ResponseEvent, choice: number): readonly object[];
  /** Every choice has ended: nothing follows. */
  readonly isComplete: boolean;
}

/** @throws {ApiError} before the first chunk */
export async function answerWithChunks(
  exchange: HttpExchange,
  runs: readonly RunResponse[],
  encoder: ChunkEncoder,
): Promise<void> {
  const writer = new ChunkWriter(encoder);
  await answerWithEvents(exchange, runs.map(rejectsFailure), {
    transport: "http",
    commentAfterMs: exchange.limits.keepaliveMs,
    write: (event, stream, choice) => writer.write(event, stream, choice),
    writeError: (error, stream) => writer.writeError(error, stream),
  });
}

class ChunkWriter {
  readonly #encoder: ChunkEncoder;
  #hasFailed = false;

  constructor(encoder: ChunkEncoder) {
    this.#encoder = encoder;
  }

  write(event: ResponseEvent, stream: SseStream, choice: number): void {
    if (this.#hasFailed) return;
    if (event.type === "response.failed") {
      this.writeError(failedError(event.response), stream);
      return;
    }
    const chunks = this.#encoder.encode(event, choice);
    for (const chunk of chunks) stream.send(chunk);
    if (chunks.length > 0 && this.#encoder.isComplete) stream.sendText(DONE);
  }

  /** Once: nothing follows. */
  writeError(error: ApiError, stream: SseStream): void {
    if (!this.#hasFailed) stream.send({ error: error.body });
    this.#hasFailed = true;
  }
}
