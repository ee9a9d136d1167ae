/** `POST /v1/chat/completions`: each choice is a response of its own, all of them make one answer. */
import type { FastifyInstance } from "fastify";
import { randomId } from "../base/random-id.ts";
import { ChatChunkEncoder, toChatCompletion } from "../protocol/chat-response.ts";
import type { RunResponse } from "../session/session-types.ts";
import { answerWithChunks } from "./chunk-stream.ts";
import {
  answerWithObjects,
  parseBody,
  callerOf,
  type ExchangeServices,
  type HttpExchange,
} from "./http-exchange.ts";
import { requireModel } from "./model-lookup.ts";

export function addChatRoute(app: FastifyInstance, services: ExchangeServices): void {
  app.post("/v1/chat/completions", async (request, reply) => {
    const session = services.state.requireSession();
    const chat = await parseBody("chat", request, services);
    requireModel(session, callerOf(request), chat.request.model);
    const exchange = { ...services, request, reply };
    const runs = chat.seeds.map((seed): RunResponse => {
      return (...where) => session.createResponse({ ...chat.request, seed }, ...where);
    });
    if (chat.request.stream) return streamChat(exchange, runs, chat.includeUsage);
    const responses = await answerWithObjects(exchange, runs);
    return toChatCompletion(newId(), responses, chat.request.topLogprobs !== undefined);
  });
}

function newId(): string {
  return randomId("chatcmpl", "-");
}

async function streamChat(
  exchange: HttpExchange,
  runs: readonly RunResponse[],
  includeUsage: boolean,
): Promise<void> {
  const encoder = new ChatChunkEncoder(newId(), runs.length, includeUsage);
  await answerWithChunks(exchange, runs, encoder);
}
