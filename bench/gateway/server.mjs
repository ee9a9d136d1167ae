/** A started server with `loop-delay.mjs` inside. */
import path from "node:path";
import { StartedServer } from "../started-server.mjs";

const PROBE = path.resolve(import.meta.dirname, "loop-delay.mjs");

export class BenchServer {
  #server;

  /** @param {readonly string[]} flags of `warmloop serve` */
  static async start(flags) {
    const server = new BenchServer();
    server.#server = await StartedServer.start(flags, ["--expose-gc", "--import", PROBE]);
    return server;
  }

  get url() {
    return this.#server.url;
  }

  get modelId() {
    return this.#server.modelId;
  }

  /** Event-loop delay in ms since the last `reset`, and memory in bytes after a collection. */
  read() {
    return this.#server.ask("read");
  }

  async reset() {
    await this.#server.ask("reset");
  }

  stop() {
    return this.#server.stop();
  }
}
