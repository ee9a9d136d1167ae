/**
 * Streams of Chat Completions and Completions: chunks as SSE data without event names, comment lines in
 * silence, `[DONE]` at the end. An error behind the first chunk is one more chunk, and the last.
 */
import type { ResponseEvent } from "../protocol/responses-types.ts";
import type { RunResponse } from "../session/session-types.ts";
import { answerWithEvents, failedError, type HttpExchange } from "./http-exchange.ts";
import type { SseStream } from "./sse.ts";

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
  await answerWithEvents(exchange, runs, {
    transport: "http",
    commentAfterMs: exchange.limits.keepaliveMs,
    write: (event, stream, choice) => writeChunks(encoder, event, stream, choice),
    writeError: (error, stream) => stream.send({ error: error.body }),
  });
}

function writeChunks(
  encoder: ChunkEncoder,
  event: ResponseEvent,
  stream: SseStream,
  choice: number,
): void {
  if (event.type === "response.failed") stream.send({ error: failedError(event.response).body });
  const chunks = encoder.encode(event, choice);
  for (const chunk of chunks) stream.send(chunk);
  if (chunks.length > 0 && encoder.isComplete) stream.sendText("[DONE]");
}
