/**
 * What decoding takes beside another process that keeps one of the cores busy, as a share of what it
 * takes alone. Threads that spin while they wait for one that lost its core take many times longer.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { summary } from "../../results.mjs";
import { measureRounds } from "../lanes.mjs";

/** Says when it starts, and ends by itself when the process that started it is gone. */
const BUSY = "console.log('busy'); const parent = process.ppid; while (process.ppid === parent);";

/** The first core that this process may run on. */
function firstCore() {
  const status = readFileSync("/proc/self/status", "utf8");
  return /^Cpus_allowed_list:\s*(\d+)/m.exec(status)[1];
}

async function besideBusyProcess(work) {
  const args = ["-c", firstCore(), process.execPath, "-e", BUSY];
  const busy = spawn("taskset", args, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await Promise.race([
      once(busy.stdout, "data"),
      once(busy, "exit").then(([code]) => {
        throw new Error(`the busy process ended with ${code}`);
      }),
    ]);
    return await work();
  } finally {
    busy.kill("SIGKILL");
  }
}

export async function measureBusyCore(plan, { lanes, pace }) {
  const opened = await lanes.open(["ours"], plan.open);
  const decode = (engine) => engine.measure(plan.run, plan.open.threads);
  const compare = async (engine) => {
    const alone = await decode(engine);
    const beside = await besideBusyProcess(() => decode(engine));
    return { cost: beside.wallMs / alone.wallMs, isDisturbed: alone.isDisturbed };
  };
  await decode(opened[0][1]);
  const { rounds, isDisturbed } = await measureRounds(opened, pace, compare);
  const ours = summary(rounds.map((round) => round.ours.cost));
  return [{ id: plan.id, unit: "x of 1", ours, disturbed: isDisturbed }];
}
