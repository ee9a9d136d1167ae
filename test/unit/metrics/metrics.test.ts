import { describe, expect, it } from "vitest";
import { createMetrics } from "../../../src/metrics/metrics.ts";

const run = {
  transport: "ws",
  promptTokens: 100,
  cachedTokens: 90,
  cacheTier: "live",
  preemptedTokens: 0,
  outputTokens: 7,
  renderedTokens: 100,
  tokenizedTokens: 10,
  missReason: undefined,
} as const;

const stats = {
  numWaiting: 1,
  numRunning: 3,
  numBlocks: 200,
  numFreeBlocks: 150,
  hashedTokens: 640,
  numPreemptions: 2,
  forcedTokens: 30,
  maskWaits: 4,
};

describe("metrics", () => {
  it("prefill for the prompt and cached tokens add up to the prompt", async () => {
    const metrics = createMetrics({ modelId: "m" });
    metrics.recordRun(run);
    metrics.recordRun({ ...run, transport: "sse", cachedTokens: 0, missReason: "cold" });
    const text = await metrics.render();
    expect(text).toContain(
      'warmloop_prefill_tokens_total{model="m",transport="ws",why="prompt"} 10',
    );
    expect(text).toContain('warmloop_cached_tokens_total{model="m",transport="ws",tier="live"} 90');
    expect(text).toContain('warmloop_cache_miss_total{model="m",transport="sse",reason="cold"} 1');
    expect(text).toContain('vllm:prompt_tokens_total{model_name="m"} 200');
    expect(text).toContain('vllm:prefix_cache_hits_total{model_name="m"} 90');
  });

  it("reads the engines when rendered, totals included once", async () => {
    const metrics = createMetrics({ modelId: "m" });
    metrics.observeEngine(async () => [stats]);
    await metrics.render();
    const text = await metrics.render();
    expect(text).toContain('vllm:num_requests_running{model_name="m",engine="0"} 3');
    expect(text).toContain('vllm:kv_cache_usage_perc{model_name="m",engine="0"} 0.25');
    expect(text).toContain('warmloop_hashed_tokens_total{model="m",engine="0"} 640');
    expect(text).toContain('warmloop_forced_tokens_total{model="m",engine="0"} 30');
    expect(text).toContain('warmloop_mask_waits_total{model="m",engine="0"} 4');
    expect(text).toContain('warmloop_engine_up{model="m"} 1');
  });

  it("renders when no engine answers", async () => {
    const metrics = createMetrics({ modelId: "m" });
    metrics.observeEngine(async () => Promise.reject(new Error("closed")));
    expect(await metrics.render()).toContain('warmloop_engine_up{model="m"} 0');
  });

  it("two of them share nothing", async () => {
    const [first, second] = [createMetrics({ modelId: "m" }), createMetrics({ modelId: "m" })];
    first.recordReceived("http", 10);
    expect(await second.render()).not.toContain('warmloop_rx_bytes_total{model="m"');
  });

  it("has latency histograms and the process defaults", async () => {
    const metrics = createMetrics({ modelId: "m" });
    metrics.observeFirstToken("sse", 0.03);
    metrics.observeTokenGap("sse", 0.02);
    metrics.recordFinish("stop");
    const text = await metrics.render();
    expect(text).toContain("vllm:time_to_first_token_seconds_count");
    expect(text).toContain("vllm:inter_token_latency_seconds_sum");
    expect(text).toContain('finished_reason="stop"');
    expect(text).toContain("process_cpu_seconds_total");
  });
});
