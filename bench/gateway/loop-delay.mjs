/**
 * Loaded into the measured server (`--import`): answers questions about its main thread on the IPC channel.
 * The delay is that of a timer of one millisecond, so an idle loop shows about one.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const NS_PER_MS = 1e6;

if (isMainThread && process.send !== undefined) {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  process.on("message", (question) => {
    if (question === "reset") histogram.reset();
    else globalThis.gc();
    process.send({
      p50: histogram.percentile(50) / NS_PER_MS,
      p99: histogram.percentile(99) / NS_PER_MS,
      max: histogram.max / NS_PER_MS,
      ...process.memoryUsage(),
    });
  });
  process.channel.unref();
}
