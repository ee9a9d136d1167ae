/** `/health`, `/readiness`, `/metrics`: answered in every phase, without a key. */
import type { FastifyInstance } from "fastify";
import type { MetricsSource } from "./gateway-options.ts";
import type { ServiceState } from "./service-state.ts";

export function addStatusRoutes(
  app: FastifyInstance,
  state: ServiceState,
  metrics: MetricsSource,
): void {
  app.get("/health", () => ({ status: "ok" }));
  app.get("/readiness", (_request, reply) => {
    if (state.phase !== "ready" || state.session === undefined) {
      return reply.code(503).send({ status: state.phase });
    }
    return reply.send({ status: "ready", model: state.session.modelId });
  });
  app.get("/metrics", async (_request, reply) => {
    reply.header("content-type", metrics.contentType);
    return metrics.render();
  });
}
