/** Routes of one response by its id: show, delete, cancel, list its input, replay its events. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { parseInputItemsQuery, pageOf } from "../protocol/input-item-page.ts";
import { parseRetrieveQuery } from "../protocol/retrieve-query.ts";
import { callerOf, type ExchangeServices } from "./http-exchange.ts";
import { streamRecorded } from "./recorded-stream.ts";

export function addStoredResponsesRoutes(app: FastifyInstance, services: ExchangeServices): void {
  const lookup = () => services.state.requireSession().responses;

  app.get("/v1/responses/:id", async (request, reply) => {
    const { tenant, id } = asked(request);
    const { stream, startingAfter } = parseRetrieveQuery(queryOf(request));
    if (!stream) return lookup().get(tenant, id);
    const events = lookup().follow(tenant, id, startingAfter);
    return streamRecorded({ ...services, request, reply }, events);
  });

  app.delete("/v1/responses/:id", async (request) => {
    const { tenant, id } = asked(request);
    await lookup().delete(tenant, id);
    return { id, object: "response", deleted: true };
  });

  app.post("/v1/responses/:id/cancel", async (request) => {
    const { tenant, id } = asked(request);
    return lookup().cancel(tenant, id);
  });

  app.get("/v1/responses/:id/input_items", async (request) => {
    const { tenant, id } = asked(request);
    const query = parseInputItemsQuery(queryOf(request));
    return pageOf(lookup().inputItems(tenant, id), query);
  });
}

function asked(request: FastifyRequest): { readonly tenant: string; readonly id: string } {
  const { id } = request.params as { id: string };
  return { tenant: callerOf(request).tenant, id };
}

function queryOf({ url }: FastifyRequest): URLSearchParams {
  return new URL(url, "http://localhost").searchParams;
}
