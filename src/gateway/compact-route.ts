/** `POST /v1/responses/compact`: a conversation summed up, for the start of a new chain. */
import type { FastifyInstance } from "fastify";
import { randomId } from "../base/random-id.ts";
import type { MessageItem } from "../protocol/responses-types.ts";
import type { RunResponse } from "../session/session-types.ts";
import { answerWithObject, parseBody, callerOf, type ExchangeServices } from "./http-exchange.ts";
import { requireModel } from "./model-lookup.ts";

export function addCompactRoute(app: FastifyInstance, services: ExchangeServices): void {
  app.post("/v1/responses/compact", async (request, reply) => {
    const session = services.state.requireSession();
    const parsed = await parseBody("responses", request, services);
    requireModel(session, callerOf(request), parsed.model);
    let messages: readonly MessageItem[] = [];
    const run: RunResponse = async (...where) => {
      const { response, kept } = await session.compact(parsed, ...where);
      messages = kept;
      return response;
    };
    const { id, created_at, output, usage } = await answerWithObject(
      { ...services, request, reply },
      run,
    );
    const object = "response.compaction";
    return { id, object, created_at, output: [...messages.map(keptItem), ...output], usage };
  });
}

function keptItem({ id = randomId("msg"), type, role, content }: MessageItem): object {
  return { id, type, role, status: "completed", content };
}
