/** A really started server as a child process, with `loop-delay.mjs` inside. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";

const MAIN = path.resolve(import.meta.dirname, "../../dist/cli/main.js");
const PROBE = path.resolve(import.meta.dirname, "loop-delay.mjs");

export class BenchServer {
  #child;
  url;
  modelId;

  /** @param {readonly string[]} flags of `warmloop serve` */
  static async start(flags) {
    const server = new BenchServer();
    const args = ["--expose-gc", "--import", PROBE, MAIN, "serve", "--port", "0", ...flags];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit", "ipc"] });
    server.#child = child;
    for await (const line of createInterface({ input: child.stdout })) {
      const [, url, modelId] = /^warmloop ready (\S+) model=(\S+)$/.exec(line) ?? [];
      if (url === undefined) continue;
      server.url = url;
      server.modelId = modelId;
      child.stdout.resume(); // leaving the loop has paused it
      return server;
    }
    throw new Error("the server ended before it was ready");
  }

  /** Event-loop delay in ms since the last `reset`, and memory in bytes after a collection. */
  read() {
    return this.#ask("read");
  }

  async reset() {
    await this.#ask("reset");
  }

  async stop() {
    this.#child.kill("SIGTERM");
    await once(this.#child, "exit");
  }

  async #ask(question) {
    this.#child.send(question);
    const [answer] = await once(this.#child, "message");
    return answer;
  }
}
