// Child process of shutdown.test.ts: `node shutdown-child.mjs SCENARIO MODEL`. An engine streams all
// the time; the scenario says how the environment around it ends.
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { openNativeEngine } from "../../dist/engine/native-engine.js";

const [scenario, modelPath] = isMainThread ? process.argv.slice(2) : workerData;

/** An engine that always has three requests to do, until it is closed. */
async function openBusyEngine() {
  const engine = await openNativeEngine({ modelPath });
  const stream = async (token) => {
    for (;;) await engine.runTokens({ tokens: Int32Array.of(1, token), maxOutputTokens: 400 });
  };
  const closed = (error) => console.log(`stream ended: ${error.code}`);
  for (const token of [5, 6, 7]) stream(token).catch(closed);
  // All three run when the first of a later one is through.
  await engine.runTokens({ tokens: Int32Array.of(1, 8), maxOutputTokens: 1 });
  return engine;
}

const endings = {
  // In a worker thread, which `runWorker` starts.
  "worker: terminate": () => parentPort.postMessage("terminate me"),
  "worker: throw": () => throwError(),
  "worker: exit": () => process.exit(0),
  "worker: close": (engine) => engine.close(),
  // On the main thread.
  "main: exit 0": () => process.exit(0),
  "main: exit 7": () => process.exit(7),
  "main: throw": () => throwError(),
  "main: close": (engine) => engine.close(),
};

function throwError() {
  throw new Error("thrown while the engine streams");
}

function runWorker() {
  const worker = new Worker(new URL(import.meta.url), { workerData: [scenario, modelPath] });
  worker.on("message", () => worker.terminate());
  worker.on("error", (error) => console.log(`worker error: ${error.message}`));
  worker.on("exit", (code) => console.log(`worker exit: ${code}`));
}

if (isMainThread && scenario.startsWith("worker:")) {
  runWorker();
} else if (scenario === "worker: terminate while opening") {
  const opening = openNativeEngine({ modelPath });
  parentPort.postMessage("terminate me");
  await opening;
} else if (scenario === "main: forget the engine") {
  // Nothing runs and nobody closes it: the process ends by itself.
  await (await openNativeEngine({ modelPath })).runTokens({ tokens: Int32Array.of(1) });
  globalThis.gc();
} else {
  endings[scenario](await openBusyEngine());
}
