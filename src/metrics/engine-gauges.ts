/** Numbers that only the engines know, read when the metrics are rendered. */
import { Counter, Gauge, type Registry } from "prom-client";

/** What is read of one engine's statistics. */
export interface EngineGauge {
  readonly numWaiting: number;
  readonly numRunning: number;
  readonly numBlocks: number;
  readonly numFreeBlocks: number;
  readonly hashedTokens: number;
  readonly numPreemptions: number;
  readonly forcedTokens: number;
  readonly maskWaits: number;
}

export function createEngineGauges(registry: Registry, model: string) {
  const labelNames = ["model_name", "engine"];
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const running = gauge("vllm:num_requests_running", "Sequences in the running batch");
  const waiting = gauge("vllm:num_requests_waiting", "Requests waiting for a slot");
  const kvUsage = gauge("vllm:kv_cache_usage_perc", "Share of KV blocks in use, 0 to 1");
  const preemptions = new Counter({
    name: "vllm:num_preemptions_total",
    help: "Sequences whose blocks were taken away while they ran",
    labelNames,
    registers: [registry],
  });
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ["model", "engine"], registers: [registry] });
  const hashed = counter("warmloop_hashed_tokens_total", "Tokens fed to the block hash");
  const forced = counter(
    "warmloop_forced_tokens_total",
    "Output tokens that were not sampled, because the grammar had one choice (jump-forward)",
  );
  const maskWaits = counter(
    "warmloop_mask_waits_total",
    "Token masks that were not ready when the forward pass was",
  );
  const up = new Gauge({
    name: "warmloop_engine_up",
    help: "1 while the engines answer, else 0",
    labelNames: ["model"],
    registers: [registry],
  });
  let readStats = async (): Promise<readonly EngineGauge[]> => [];

  const show = (stats: EngineGauge, engineIdx: number) => {
    const engine = String(engineIdx);
    const labels = { model_name: model, engine };
    running.set(labels, stats.numRunning);
    waiting.set(labels, stats.numWaiting);
    const numUsed = stats.numBlocks - stats.numFreeBlocks;
    kvUsage.set(labels, stats.numBlocks === 0 ? 0 : numUsed / stats.numBlocks);
    preemptions.remove(labels);
    preemptions.inc(labels, stats.numPreemptions);
    const totals = [
      [hashed, stats.hashedTokens],
      [forced, stats.forcedTokens],
      [maskWaits, stats.maskWaits],
    ] as const;
    for (const [total, value] of totals) {
      total.remove({ model, engine });
      total.inc({ model, engine }, value);
    }
  };

  return {
    observe(read: () => Promise<readonly EngineGauge[]>): void {
      readStats = read;
    },
    /** Engines that do not answer keep their last numbers and show as not up. */
    async refresh(): Promise<void> {
      const stats = await readStats().catch(() => undefined);
      up.set({ model }, stats && stats.length > 0 ? 1 : 0);
      stats?.forEach(show);
    },
  };
}
