/**
 * One engine in a process of its own, driven by messages, so that its threads and its memory are
 * nobody else's. Between runs it waits for a message and uses no CPU.
 *
 *   node child.mjs warmloop|peer MODEL
 *   {open: {threads, sequences, contextTokens}}  -> {isa}  (undefined for the peer)
 *   {run: {prompts, outputTokens}}               -> {wallMs, cpuMs, tokens}
 */
import { openPeer } from "./peer-engine.mjs";
import { openWarmloop } from "./warmloop-engine.mjs";

const [kind, modelPath] = process.argv.slice(2);
const openEngine = kind === "peer" ? openPeer : openWarmloop;
let engine;

/** Wall clock and CPU time of all threads of this process. */
async function timed(work) {
  const cpuStart = process.cpuUsage();
  const wallStart = performance.now();
  const tokens = await work();
  const wallMs = performance.now() - wallStart;
  const { user, system } = process.cpuUsage(cpuStart);
  return { wallMs, cpuMs: (user + system) / 1000, tokens };
}

async function answer({ open, run }) {
  if (open !== undefined) {
    await engine?.close();
    engine = await openEngine({ modelPath, ...open });
    return { isa: engine.isa };
  }
  const result = await timed(() => engine.generate(run));
  await engine.forget?.();
  return result;
}

process.on("message", (message) => {
  answer(message).then(
    (reply) => process.send(reply),
    (error) => process.send({ error: String(error?.stack ?? error) }),
  );
});
