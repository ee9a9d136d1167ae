import { Counter, Gauge, type Registry } from "prom-client";
import type { FinishedReason } from "./labels.ts";

/** Requests by how they ended, and open WebSockets. */
export function createRequestMetrics(registry: Registry, model: string) {
  const finished = new Counter({
    name: "vllm:request_success_total",
    help: "Requests that ended, by reason",
    labelNames: ["model_name", "finished_reason"],
    registers: [registry],
  });
  const active = new Gauge({
    name: "vllm:websocket_connections_active",
    help: "Open WebSocket connections",
    labelNames: ["model_name"],
    registers: [registry],
  });
  active.set({ model_name: model }, 0);
  return {
    recordFinish: (reason: FinishedReason) =>
      finished.inc({ model_name: model, finished_reason: reason }),
    connectionOpened: () => active.inc({ model_name: model }),
    connectionClosed: () => active.dec({ model_name: model }),
  };
}
