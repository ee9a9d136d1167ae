/**
 * One engine in a process of its own, driven by messages, so that its threads and its memory are
 * nobody else's. Between runs it waits for a message and uses no CPU.
 *
 *   node child.mjs warmloop|peer MODEL
 *   {open: {threads, sequences, contextTokens, ...}} -> {rssBytes}
 *   {run: {method, ...}}                             -> {wallMs, cpuMs, result}
 *
 * `method` is one of the opened engine's, `rssBytes` by how much opening it made this process grow.
 */
import { openPeer } from "./peer-engine.mjs";
import { openWarmloop } from "./warmloop-engine.mjs";

const [kind, modelPath] = process.argv.slice(2);
const openEngine = kind === "peer" ? openPeer : openWarmloop;
let engine;

async function open(options) {
  await engine?.close();
  const rssStart = process.memoryUsage.rss();
  engine = await openEngine({ modelPath, ...options });
  return { rssBytes: process.memoryUsage.rss() - rssStart };
}

/** Wall clock and CPU time of all threads of this process. */
async function run({ method, ...options }) {
  const cpuStart = process.cpuUsage();
  const wallStart = performance.now();
  const result = await engine[method](options);
  const wallMs = performance.now() - wallStart;
  const { user, system } = process.cpuUsage(cpuStart);
  await engine.rewind?.();
  return { wallMs, cpuMs: (user + system) / 1000, result };
}

process.on("message", (message) => {
  const answer = message.open === undefined ? run(message.run) : open(message.open);
  answer.then(
    (reply) => process.send(reply),
    (error) => process.send({ error: String(error?.stack ?? error) }),
  );
});
