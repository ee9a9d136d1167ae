/** `POST /v1/completions`: each prompt is a response of its own, all of them make one answer. */
import type { FastifyInstance } from "fastify";
import { randomId } from "../base/random-id.ts";
import { CompletionChunkEncoder, toCompletion } from "../protocol/completion-response.ts";
import type { CompletionRequest } from "../protocol/completion-types.ts";
import type { ResponseEvent } from "../protocol/responses-types.ts";
import type { RunResponse } from "../session/session-types.ts";
import {
  answerWithEvents,
  answerWithObjects,
  bodyOf,
  callerOf,
  type ExchangeServices,
  failedError,
  type HttpExchange,
} from "./http-exchange.ts";
import { requireModel } from "./model-lookup.ts";
import type { SseStream } from "./sse.ts";

export function addCompletionsRoute(app: FastifyInstance, services: ExchangeServices): void {
  app.post("/v1/completions", async (request, reply) => {
    const session = services.state.requireSession();
    const completion = await services.parser.parse("completion", bodyOf(request));
    requireModel(session, callerOf(request), completion.request.model);
    const exchange = { ...services, request, reply };
    const { prompts, request: base, echo } = completion;
    const runs = await Promise.all(
      prompts.map((prompt) => session.prepareCompletion({ prompt, request: base, echo })),
    );
    if (base.stream) return streamCompletion(exchange, runs, completion);
    return toCompletion(newId(), await answerWithObjects(exchange, runs));
  });
}

function newId(): string {
  return randomId("cmpl", "-");
}

async function streamCompletion(
  exchange: HttpExchange,
  runs: readonly RunResponse[],
  { includeUsage }: CompletionRequest,
): Promise<void> {
  const encoder = new CompletionChunkEncoder(newId(), runs.length, includeUsage);
  await answerWithEvents(exchange, runs, {
    transport: "http",
    commentAfterMs: exchange.limits.keepaliveMs,
    write: (event, stream, index) => writeChunks(encoder, event, stream, index),
    writeError: (error, stream) => stream.send({ error: error.body }),
  });
}

function writeChunks(
  encoder: CompletionChunkEncoder,
  event: ResponseEvent,
  stream: SseStream,
  index: number,
): void {
  if (event.type === "response.failed") stream.send({ error: failedError(event.response).body });
  const chunks = encoder.encode(event, index);
  for (const chunk of chunks) stream.send(chunk);
  if (chunks.length > 0 && encoder.isComplete) stream.sendText("[DONE]");
}
