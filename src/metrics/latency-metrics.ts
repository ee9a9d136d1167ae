import { Histogram, type Registry } from "prom-client";
import type { MetricTransport } from "./labels.ts";

/** Bucket bounds in seconds, those of vLLM, so that existing dashboards fit. */
const FIRST_TOKEN_BUCKETS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
  160, 640, 2560,
];
const TOKEN_GAP_BUCKETS = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
];

/** The gateway's own share of a turn. */
const GATEWAY_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5,
];

export function createLatencyMetrics(registry: Registry, model: string) {
  const firstToken = new Histogram({
    name: "vllm:time_to_first_token_seconds",
    help: "Request received to first token sent",
    labelNames: ["model_name", "transport"],
    buckets: FIRST_TOKEN_BUCKETS,
    registers: [registry],
  });
  const tokenGap = new Histogram({
    name: "vllm:inter_token_latency_seconds",
    help: "Time between token events of a request",
    labelNames: ["model_name", "transport"],
    buckets: TOKEN_GAP_BUCKETS,
    registers: [registry],
  });
  const gateway = (name: string, help: string) =>
    new Histogram({
      name,
      help,
      labelNames: ["model", "transport"],
      buckets: GATEWAY_BUCKETS,
      registers: [registry],
    });
  const submit = gateway(
    "warmloop_submit_seconds",
    "Request received to prompt given to the engine",
  );
  const delivery = gateway("warmloop_delivery_seconds", "Engine event to the socket's buffer");
  return {
    observeSubmit: (transport: MetricTransport, seconds: number) =>
      submit.observe({ model, transport }, seconds),
    observeDelivery: (transport: MetricTransport, seconds: number) =>
      delivery.observe({ model, transport }, seconds),
    observeFirstToken: (transport: MetricTransport, seconds: number) =>
      firstToken.observe({ model_name: model, transport }, seconds),
    observeTokenGap: (transport: MetricTransport, seconds: number) =>
      tokenGap.observe({ model_name: model, transport }, seconds),
  };
}
