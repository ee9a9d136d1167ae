/** `POST /v1/chat/completions`, as a translation of one Responses exchange. */
import type { FastifyInstance } from "fastify";
import { randomId } from "../base/random-id.ts";
import { ChatChunkEncoder, toChatCompletion } from "../protocol/chat-response.ts";
import type { ResponseEvent } from "../protocol/responses-types.ts";
import type { RunResponse } from "../session/session-types.ts";
import {
  answerWithEvents,
  answerWithObject,
  bodyOf,
  callerOf,
  type ExchangeServices,
  failedError,
  type HttpExchange,
} from "./http-exchange.ts";
import { requireModel } from "./model-lookup.ts";
import type { SseStream } from "./sse.ts";

export function addChatRoute(app: FastifyInstance, services: ExchangeServices): void {
  app.post("/v1/chat/completions", async (request, reply) => {
    const session = services.state.requireSession();
    const chat = await services.parser.parse("chat", bodyOf(request));
    requireModel(session, callerOf(request), chat.request.model);
    const exchange = { ...services, request, reply };
    const run: RunResponse = (...where) => session.createResponse(chat.request, ...where);
    if (chat.request.stream) return streamChat(exchange, run, chat.includeUsage);
    const response = await answerWithObject(exchange, run);
    return toChatCompletion(newId(), response);
  });
}

function newId(): string {
  return randomId("chatcmpl", "-");
}

async function streamChat(
  exchange: HttpExchange,
  run: RunResponse,
  includeUsage: boolean,
): Promise<void> {
  const encoder = new ChatChunkEncoder(newId(), includeUsage);
  await answerWithEvents(exchange, [run], {
    transport: "http",
    commentAfterMs: exchange.limits.keepaliveMs,
    write: (event, stream) => writeChunks(encoder, event, stream),
  });
}

function writeChunks(encoder: ChatChunkEncoder, event: ResponseEvent, stream: SseStream): void {
  if (event.type === "response.failed") stream.send({ error: failedError(event.response).body });
  for (const chunk of encoder.encode(event)) stream.send(chunk);
  if (event.type === "response.completed" || event.type === "response.incomplete") {
    stream.sendText("[DONE]");
  }
}
