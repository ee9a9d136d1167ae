/**
 * Two engines, one workload, repetitions in turn: ours, peer, ours, peer. A pair is judged together,
 * so that what the machine does to one it does to the other.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import path from "node:path";

const CHILD = path.join(import.meta.dirname, "child.mjs");
const JIFFY_MS = 10;
/** Fewer undisturbed pairs than this, and all pairs are kept and the row is marked. */
const MIN_CLEAN_PAIRS = 3;

/** CPU time that anything on this machine used, time stolen by the hypervisor included. */
function machineBusyMs() {
  const [, user, nice, system, , , irq, softirq, steal] = readFileSync("/proc/stat", "utf8")
    .split("\n")[0]
    .split(/\s+/)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) * JIFFY_MS;
}

export class EngineProcess {
  #child;

  constructor(kind, modelPath) {
    this.#child = fork(CHILD, [kind, modelPath], { stdio: ["ignore", 2, 2, "ipc"] });
  }

  async ask(message) {
    const answered = new AbortController();
    const { signal } = answered;
    this.#child.send(message);
    const [reply] = await Promise.race([
      once(this.#child, "message", { signal }),
      once(this.#child, "exit", { signal }).then(([code]) => [
        { error: `an engine process ended with ${code}` },
      ]),
    ]).finally(() => answered.abort());
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply;
  }

  /**
   * One repetition. It is disturbed when the engine got less than 0.9 of its threads' time and
   * others had left it less than it was due: an engine may also wait for itself.
   */
  async measure(run, threads) {
    const busyStart = machineBusyMs();
    const { wallMs, cpuMs, tokens } = await this.ask({ run });
    const othersMs = machineBusyMs() - busyStart - cpuMs;
    const coresLeft = cpus().length - othersMs / wallMs;
    const isDisturbed = cpuMs < 0.9 * threads * wallMs && coresLeft < 0.95 * threads;
    return { wallMs, cpuMs, tokens, isDisturbed };
  }

  end() {
    this.#child.disconnect();
  }
}

/**
 * `repetitions` pairs of measurements of one workload after one that is thrown away. When enough
 * pairs were undisturbed, the others are dropped.
 */
export async function comparePairs([ours, peer], { run, threads, repetitions }) {
  const pairs = [];
  for (let i = -1; i < repetitions; i++) {
    const pair = { ours: await ours.measure(run, threads), peer: await peer.measure(run, threads) };
    if (pair.ours.tokens !== pair.peer.tokens) {
      throw new Error(`ours made ${pair.ours.tokens} tokens, the peer ${pair.peer.tokens}`);
    }
    if (i >= 0) pairs.push(pair);
  }
  const clean = pairs.filter((pair) => !pair.ours.isDisturbed && !pair.peer.isDisturbed);
  const isDisturbed = clean.length < Math.min(MIN_CLEAN_PAIRS, repetitions);
  return { pairs: isDisturbed ? pairs : clean, isDisturbed };
}
