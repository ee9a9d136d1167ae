/** A really started server as a child process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";

const MAIN = path.resolve(import.meta.dirname, "../dist/cli/main.js");

export class StartedServer {
  #child;
  url;
  modelId;

  /**
   * @param {readonly string[]} flags of `warmloop serve`
   * @param {readonly string[]} nodeFlags of its process, which then has an IPC channel
   */
  static async start(flags, nodeFlags = []) {
    const server = new StartedServer();
    const args = [...nodeFlags, MAIN, "serve", "--port", "0", ...flags];
    const channel = nodeFlags.length > 0 ? ["ipc"] : [];
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "inherit", ...channel],
    });
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

  get pid() {
    return this.#child.pid;
  }

  /** Of the module that its process was made to load. */
  async ask(question) {
    this.#child.send(question);
    const [answer] = await once(this.#child, "message");
    return answer;
  }

  async stop() {
    this.#child.kill("SIGTERM");
    await once(this.#child, "exit");
  }
}
