/**
 * What a turn cost, by layer. On an undisturbed lane each of these grows by the turn's new items
 * only, except the cached tokens, which take the rest: prefill (why = prompt) + cached = the prompt.
 */
import { Counter, type Registry } from "prom-client";
import type { MetricTransport } from "./labels.ts";

export interface RunMeasures {
  readonly transport: MetricTransport;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly cacheTier: "live" | "device";
  readonly preemptedTokens: number;
  readonly outputTokens: number;
  /** Prompt tokens whose text was rendered. */
  readonly renderedTokens: number;
  readonly tokenizedTokens: number;
  readonly missReason: string | undefined;
}

export function createTokenCounters(registry: Registry, model: string) {
  const counter = (name: string, help: string, extraLabels: readonly string[] = []) =>
    new Counter({
      name,
      help,
      labelNames: ["model", "transport", ...extraLabels],
      registers: [registry],
    });
  const received = counter("warmloop_rx_bytes_total", "Payload bytes received");
  const rendered = counter("warmloop_rendered_tokens_total", "Prompt tokens rendered as text");
  const tokenized = counter("warmloop_tokenized_tokens_total", "Tokens made by the tokenizer");
  const prefill = counter("warmloop_prefill_tokens_total", "Tokens computed by prefill", ["why"]);
  const cached = counter("warmloop_cached_tokens_total", "Prompt tokens taken from KV", ["tier"]);
  const misses = counter("warmloop_cache_miss_total", "Requests that reused less than they could", [
    "reason",
  ]);
  const dashboard = createDashboardCounters(registry, model);
  return {
    recordReceived(transport: MetricTransport, bytes: number): void {
      received.inc({ model, transport }, bytes);
    },
    recordRun(run: RunMeasures): void {
      const { transport } = run;
      const labels = { model, transport };
      rendered.inc(labels, run.renderedTokens);
      tokenized.inc(labels, run.tokenizedTokens);
      prefill.inc({ ...labels, why: "prompt" }, run.promptTokens - run.cachedTokens);
      prefill.inc({ ...labels, why: "preempted" }, run.preemptedTokens);
      cached.inc({ ...labels, tier: run.cacheTier }, run.cachedTokens);
      if (run.missReason) misses.inc({ ...labels, reason: run.missReason });
      dashboard(run);
    },
  };
}

/** The same numbers under the names of existing dashboards. */
function createDashboardCounters(registry: Registry, model: string): (run: RunMeasures) => void {
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ["model_name"], registers: [registry] });
  const prompt = counter("vllm:prompt_tokens_total", "Prompt tokens");
  const queries = counter(
    "vllm:prefix_cache_queries_total",
    "Prompt tokens looked up in the cache",
  );
  const promptCached = counter(
    "vllm:prompt_tokens_cached_total",
    "Prompt tokens found in the cache",
  );
  const hits = counter("vllm:prefix_cache_hits_total", "Prompt tokens found in the cache");
  const generated = counter("vllm:generation_tokens_total", "Sampled tokens");
  const labels = { model_name: model };
  return (run) => {
    prompt.inc(labels, run.promptTokens);
    queries.inc(labels, run.promptTokens);
    promptCached.inc(labels, run.cachedTokens);
    hits.inc(labels, run.cachedTokens);
    generated.inc(labels, run.outputTokens);
  };
}
