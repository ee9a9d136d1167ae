/**
 * `POST /v1/responses`: one JSON object, or the events as SSE. And `/v1/responses/input_tokens`: how many
 * tokens the prompt of such a request has.
 */
import type { FastifyInstance } from "fastify";
import type { RunResponse } from "../session/session-types.ts";
import {
  answerWithEvents,
  answerWithObject,
  bodyOf,
  callerOf,
  contextOf,
  type ExchangeServices,
} from "./http-exchange.ts";
import { requireModel } from "./model-lookup.ts";

export function addResponsesRoute(app: FastifyInstance, services: ExchangeServices): void {
  app.post("/v1/responses", async (request, reply) => {
    const session = services.state.requireSession();
    const parsed = await services.parser.parse("responses", bodyOf(request));
    requireModel(session, callerOf(request), parsed.model);
    const exchange = { ...services, request, reply };
    const run: RunResponse = (...where) => session.createResponse(parsed, ...where);
    if (!parsed.stream) return answerWithObject(exchange, run);
    return answerWithEvents(exchange, [run], {
      transport: "sse",
      write: (event, stream) => stream.send(event, event.type),
    });
  });

  app.post("/v1/responses/input_tokens", async (request) => {
    const session = services.state.requireSession();
    const parsed = await services.parser.parse("responses", bodyOf(request));
    requireModel(session, callerOf(request), parsed.model);
    const inputTokens = await session.countInputTokens(parsed, contextOf(request, "http"));
    return { object: "response.input_tokens", input_tokens: inputTokens };
  });
}
