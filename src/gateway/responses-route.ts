/** `POST /v1/responses`: one JSON object, or the events as SSE. */
import type { FastifyInstance } from "fastify";
import { parseJsonObject } from "../protocol/parse-json.ts";
import { parseResponsesRequest } from "../protocol/responses-request.ts";
import type { RunResponse } from "../session/session-types.ts";
import {
  answerWithEvents,
  answerWithObject,
  bodyOf,
  type ExchangeServices,
} from "./http-exchange.ts";
import { requireModel } from "./model-lookup.ts";

export function addResponsesRoute(app: FastifyInstance, services: ExchangeServices): void {
  app.post("/v1/responses", async (request, reply) => {
    const session = services.state.requireSession();
    const parsed = parseResponsesRequest(parseJsonObject(bodyOf(request)), "http");
    requireModel(session, parsed.model);
    const exchange = { ...services, request, reply };
    const run: RunResponse = (...where) => session.createResponse(parsed, ...where);
    if (!parsed.stream) return answerWithObject(exchange, run);
    return answerWithEvents(exchange, [run], {
      transport: "sse",
      write: (event, stream) => stream.send(event, event.type),
    });
  });
}
