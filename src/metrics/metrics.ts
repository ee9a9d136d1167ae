/**
 * Prometheus metrics of one process: our own counters, which show that no work is paid for twice,
 * and the names that dashboards for other servers already know. An object passed in, never a global
 * registry. Label values are a fixed few: no tenant, no id, nothing a client chooses.
 */
import { Registry, collectDefaultMetrics } from "prom-client";
import { createEngineGauges, type EngineGauge } from "./engine-gauges.ts";
import type { FinishedReason, MetricTransport } from "./labels.ts";
import { createLatencyMetrics } from "./latency-metrics.ts";
import { createRequestMetrics } from "./request-metrics.ts";
import { createTokenCounters, type RunMeasures } from "./token-counters.ts";

export interface Metrics {
  /** Payload bytes of a body or frame. */
  recordReceived(transport: MetricTransport, bytes: number): void;
  /** One prompt that ran on the engine. */
  recordRun(measures: RunMeasures): void;
  recordFinish(reason: FinishedReason): void;
  /** Times from the arrival of a request, and from that of an engine's event. */
  observeSubmit(transport: MetricTransport, seconds: number): void;
  observeDelivery(transport: MetricTransport, seconds: number): void;
  observeFirstToken(transport: MetricTransport, seconds: number): void;
  observeTokenGap(transport: MetricTransport, seconds: number): void;
  connectionOpened(): void;
  connectionClosed(): void;
  /** The engines' numbers are read whenever the metrics are. */
  observeEngine(readStats: () => Promise<readonly EngineGauge[]>): void;
  readonly contentType: string;
  /** Prometheus text format. */
  render(): Promise<string>;
}

export interface MetricsOptions {
  readonly modelId: string;
}

export function createMetrics({ modelId }: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const tokens = createTokenCounters(registry, modelId);
  const requests = createRequestMetrics(registry, modelId);
  const latency = createLatencyMetrics(registry, modelId);
  const engine = createEngineGauges(registry, modelId);
  return {
    recordReceived: tokens.recordReceived,
    recordRun: tokens.recordRun,
    ...requests,
    ...latency,
    observeEngine: engine.observe,
    contentType: registry.contentType,
    async render() {
      await engine.refresh();
      return registry.metrics();
    },
  };
}
