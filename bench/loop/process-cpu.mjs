/** CPU time of another process of this machine, from /proc. */
import { readFileSync } from "node:fs";

const MS_PER_TICK = 10; // USER_HZ is 100 on x86-64
const NS_PER_MS = 1e6;

/** `{allMs, mainMs}`: of all its threads, and of its main thread, which is the gateway. */
export function readProcessCpu(pid) {
  return {
    allMs: ticksOf(readFileSync(`/proc/${pid}/stat`, "utf8")) * MS_PER_TICK,
    mainMs: runNsOf(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8")) / NS_PER_MS,
  };
}

/** utime and stime; the name in front of them may have spaces. */
export function ticksOf(stat) {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

/** Finer than ticks: `ns on the CPU, ns waiting, times scheduled`. */
export function runNsOf(schedstat) {
  return Number(schedstat.split(" ")[0]);
}
