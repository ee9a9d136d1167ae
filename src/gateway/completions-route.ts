/** `POST /v1/completions`: each choice of a prompt is a response of its own, all of them make one answer. */
import type { FastifyInstance } from "fastify";
import { randomId } from "../base/random-id.ts";
import { CompletionChunkEncoder, toCompletion } from "../protocol/completion-response.ts";
import type { CompletionRequest } from "../protocol/completion-types.ts";
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

export function addCompletionsRoute(app: FastifyInstance, services: ExchangeServices): void {
  app.post("/v1/completions", async (request, reply) => {
    const session = services.state.requireSession();
    const completion = await parseBody("completion", request, services);
    requireModel(session, callerOf(request), completion.request.model);
    const exchange = { ...services, request, reply };
    const { prompts, ...fields } = completion;
    const runs = await Promise.all(
      prompts.map((prompt) => session.prepareCompletion({ prompt, ...fields })),
    );
    if (completion.request.stream) return streamCompletion(exchange, runs.flat(), completion);
    const responses = await answerWithObjects(exchange, runs.flat());
    return toCompletion(newId(), responses, completion.seeds.length);
  });
}

function newId(): string {
  return randomId("cmpl", "-");
}

async function streamCompletion(
  exchange: HttpExchange,
  runs: readonly RunResponse[],
  { seeds, includeUsage }: CompletionRequest,
): Promise<void> {
  const encoder = new CompletionChunkEncoder(newId(), runs.length, seeds.length, includeUsage);
  await answerWithChunks(exchange, runs, encoder);
}
