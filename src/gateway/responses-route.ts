/** `POST /v1/responses`: one JSON object, or the events as SSE. */
import type { FastifyInstance } from "fastify";
import { parseJsonObject } from "../protocol/parse-json.ts";
import { parseResponsesRequest } from "../protocol/responses-request.ts";
import type { GatewayLimits } from "./gateway-options.ts";
import { answerWithEvents, answerWithObject, bodyOf } from "./http-exchange.ts";
import { requireModel } from "./model-lookup.ts";
import type { ServiceState } from "./service-state.ts";

export function addResponsesRoute(
  app: FastifyInstance,
  state: ServiceState,
  limits: GatewayLimits,
): void {
  app.post("/v1/responses", async (request, reply) => {
    const session = state.requireSession();
    const parsed = parseResponsesRequest(parseJsonObject(bodyOf(request)), "http");
    requireModel(session, parsed.model);
    const exchange = { state, limits, request, reply };
    if (!parsed.stream) return answerWithObject(exchange, session, parsed);
    return answerWithEvents(exchange, session, parsed, {
      transport: "sse",
      write: (event, stream) => stream.send(event, event.type),
    });
  });
}
