/**
 * `POST /v1/responses`: one JSON object, or the events as SSE, or a response in the background. And `/v1/responses/input_tokens`: how many
 * tokens the prompt of such a request has.
 */
import type { FastifyInstance } from "fastify";
import type { ResponsesRequest } from "../protocol/responses-types.ts";
import type { RunResponse } from "../session/session-types.ts";
import { runInBackground } from "./background-run.ts";
import {
  answerWithEvents,
  answerWithObject,
  parseBody,
  callerOf,
  contextOf,
  type ExchangeServices,
  type HttpExchange,
} from "./http-exchange.ts";
import { requireModel } from "./model-lookup.ts";
import { streamRecorded } from "./recorded-stream.ts";
import { DONE } from "./sse.ts";

export function addResponsesRoute(app: FastifyInstance, services: ExchangeServices): void {
  app.post("/v1/responses", async (request, reply) => {
    const session = services.state.requireSession();
    const parsed = await parseBody("responses", request, services);
    requireModel(session, callerOf(request), parsed.model);
    const exchange = { ...services, request, reply };
    if (parsed.background) return answerInBackground(exchange, parsed);
    const run: RunResponse = (...where) => session.createResponse(parsed, ...where);
    if (!parsed.stream) return answerWithObject(exchange, run);
    return answerWithEvents(exchange, [run], {
      transport: "sse",
      write: (event, stream) => stream.send(event, event.type),
      ...(services.sendsDone && { lastData: DONE }),
    });
  });

  app.post("/v1/responses/input_tokens", async (request) => {
    const session = services.state.requireSession();
    const parsed = await parseBody("responses", request, services);
    requireModel(session, callerOf(request), parsed.model);
    const inputTokens = await session.countInputTokens(parsed, contextOf(request, "http"));
    return { object: "response.input_tokens", input_tokens: inputTokens };
  });
}

/** The first state of the response, or its events: those are recorded and outlive this stream. */
async function answerInBackground(exchange: HttpExchange, parsed: ResponsesRequest) {
  const { request, state } = exchange;
  const caller = callerOf(request);
  const context = contextOf(request, parsed.stream ? "sse" : "http");
  const response = await runInBackground(exchange, caller, parsed, context);
  if (!parsed.stream) return response;
  const { responses } = state.requireSession();
  return streamRecorded(exchange, responses.follow(caller.tenant, response.id, -1));
}
