/**
 * The engines of one model file, each in a process of its own, and repetitions in turn: ours, peer,
 * int8, ours, peer, int8. What one round measures is judged together, so that what the machine does to
 * one engine it does to the others.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import path from "node:path";

const CHILD = path.join(import.meta.dirname, "child.mjs");
const JIFFY_MS = 10;
/** Fewer undisturbed rounds than this, and all rounds are kept and the row is marked. */
const MIN_CLEAN_ROUNDS = 3;

/** How each lane's engine is opened. */
const LANES = {
  ours: { kind: "warmloop", options: { activations: "wide" } },
  int8: { kind: "warmloop", options: { activations: "8" } },
  peer: { kind: "peer", options: {} },
};

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
    const { wallMs, cpuMs, result } = await this.ask({ run });
    const othersMs = machineBusyMs() - busyStart - cpuMs;
    const coresLeft = cpus().length - othersMs / wallMs;
    const isDisturbed = cpuMs < 0.9 * threads * wallMs && coresLeft < 0.95 * threads;
    return { wallMs, cpuMs, result, isDisturbed };
  }

  async end() {
    const ended = once(this.#child, "exit");
    this.#child.disconnect();
    await ended;
  }
}

export class Lanes {
  #modelPath;
  #processes = new Map();

  constructor(modelPath) {
    this.#modelPath = modelPath;
  }

  get modelPath() {
    return this.#modelPath;
  }

  /**
   * Opens an engine in each lane of `names` and lets it compute `kept`, the prompts to go on from,
   * if there are any. Returns [name, process] pairs.
   */
  async open(names, options, kept) {
    const opened = names.map((name) => {
      const { kind, options: laneOptions } = LANES[name];
      if (!this.#processes.has(name)) {
        this.#processes.set(name, new EngineProcess(kind, this.#modelPath));
      }
      return { name, engine: this.#processes.get(name), options: { ...options, ...laneOptions } };
    });
    const prepare = async ({ engine, options: laneOptions }) => {
      await engine.ask({ open: laneOptions });
      if (kept !== undefined) await engine.ask({ run: { method: "keep", prompts: kept } });
    };
    // One after another: threads that spin while they wait would hold each other up.
    for (const lane of opened) await prepare(lane);
    return opened.map(({ name, engine }) => [name, engine]);
  }

  async end() {
    for (const engine of this.#processes.values()) await engine.end();
    this.#processes.clear();
  }
}

/**
 * Rounds of `measure(engine, name)`, once for each lane, until there are `pace.rounds` of them or
 * `pace.seconds` have passed (`pace.minRounds` there are in any case). When enough rounds were
 * undisturbed, the others are dropped.
 */
export async function measureRounds(lanes, pace, measure) {
  const start = performance.now();
  const rounds = [];
  const isTimeOver = () => performance.now() - start > 1000 * pace.seconds;
  while (rounds.length < pace.minRounds || (rounds.length < pace.rounds && !isTimeOver())) {
    const round = {};
    for (const [name, engine] of lanes) round[name] = await measure(engine, name);
    rounds.push(round);
  }
  const clean = rounds.filter((round) => Object.values(round).every((lane) => !lane.isDisturbed));
  const isDisturbed = clean.length < Math.min(MIN_CLEAN_ROUNDS, rounds.length);
  return { rounds: isDisturbed ? rounds : clean, isDisturbed };
}
