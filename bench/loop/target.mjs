/** The server that is measured: our own, started here, or one that is given by its URL. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { StartedServer } from "../started-server.mjs";
import { readProcessCpu } from "./process-cpu.mjs";

/**
 * Every run gets a tenant of its own, so that none finds what another one left in the cache, with equal
 * prompts all the same.
 */
export class OwnServer {
  /** Tools and instructions as the first items of the conversation: sent once where turns are chained. */
  head = "items";
  #server;
  #folder;
  #numRuns = 0;

  /** Of every request. */
  fields;

  /** @param {{numRuns: number, flags?: readonly string[], fields?: object}} options flags of `warmloop serve` */
  static async start({ numRuns, flags = [], fields = {} }) {
    const own = new OwnServer();
    own.fields = fields;
    own.#folder = mkdtempSync(path.join(tmpdir(), "warmloop-loop-"));
    const keysFile = path.join(own.#folder, "keys");
    const lines = Array.from({ length: numRuns }, (_, run) => `run-${run} key-${run}\n`);
    writeFileSync(keysFile, lines.join(""));
    const storeFolder = path.join(own.#folder, "store");
    const folders = ["--api-keys", keysFile, "--store-dir", storeFolder];
    own.#server = await StartedServer.start([...folders, ...flags]);
    return own;
  }

  get url() {
    return this.#server.url;
  }

  get modelId() {
    return this.#server.modelId;
  }

  /** Settings of the next run. */
  nextRun() {
    return { apiKey: `key-${this.#numRuns++}` };
  }

  readCpu() {
    return readProcessCpu(this.#server.pid);
  }

  async stop() {
    await this.#server.stop();
    rmSync(this.#folder, { recursive: true });
  }
}

/** Its cache is kept out of the next run by a line at the front of the prompt that is new each time. */
export class GivenServer {
  url;
  modelId;
  head;
  #apiKey;
  #pid;
  #numRuns = 0;

  /** @param options `url` with or without `/v1`; the CPU time is read of `pid`, if it is given */
  static async open({ url, model, apiKey, pid, head }) {
    const given = new GivenServer();
    given.url = url.replace(/(\/v1)?\/*$/, "");
    given.head = head;
    given.#apiKey = apiKey;
    given.#pid = pid;
    given.modelId = model ?? (await given.#firstModel());
    return given;
  }

  nextRun() {
    const leadingLine = `Run ${Date.now()}-${this.#numRuns++}.`;
    return { apiKey: this.#apiKey, leadingLine };
  }

  readCpu() {
    return this.#pid === undefined ? undefined : readProcessCpu(this.#pid);
  }

  async stop() {
    // It is not ours.
  }

  async #firstModel() {
    const headers = this.#apiKey === undefined ? {} : { authorization: `Bearer ${this.#apiKey}` };
    const response = await fetch(`${this.url}/v1/models`, { headers });
    if (!response.ok) throw new Error(`${this.url}/v1/models answers ${response.status}`);
    return (await response.json()).data[0].id;
  }
}
