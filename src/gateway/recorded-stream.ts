/**
 * Recorded events as SSE, from where the client was to the end of the response. The client sets the
 * pace and nothing is merged: numbers stay those of the recording, so that it can come back again.
 */
import { once } from "node:events";
import type { ResponseEvent } from "../protocol/responses-types.ts";
import type { HttpExchange } from "./http-exchange.ts";
import { DONE, SseStream } from "./sse.ts";

export async function streamRecorded(
  { reply, limits, sendsDone }: HttpExchange,
  events: AsyncIterable<ResponseEvent>,
): Promise<void> {
  const { raw } = reply;
  const stream = new SseStream(reply, { limits, heldBytes: () => 0, onDrain: ignore });
  stream.open();
  const closed = once(raw, "close");
  for await (const event of events) {
    if (raw.destroyed) return;
    stream.send(event, event.type);
    if (stream.isCongested) await Promise.race([once(raw, "drain"), closed]);
  }
  if (sendsDone) stream.sendText(DONE);
  stream.end();
}

function ignore(): void {
  // The loop itself waits for the client.
}
