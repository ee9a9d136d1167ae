/** One lane over a WebSocket, and the server's own counters around each of its turns. */
import { once } from "node:events";
import { WebSocket } from "ws";
import { framesOf } from "../gateway/clients.mjs";

/** name -> the counter of /metrics, summed over its labels. */
const COUNTERS = {
  rendered: /^warmloop_rendered_tokens_total\{/,
  tokenized: /^warmloop_tokenized_tokens_total\{/,
  hashed: /^warmloop_hashed_tokens_total\b/,
  prefilled: /^warmloop_prefill_tokens_total\{/,
  submitSeconds: /^warmloop_submit_seconds_sum\{/,
  deliverySeconds: /^warmloop_delivery_seconds_sum\{/,
};

export async function readCounters(url) {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split("\n");
  const sumOf = (pattern) =>
    lines
      .filter((line) => pattern.test(line))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  return Object.fromEntries(
    Object.entries(COUNTERS).map(([name, pattern]) => [name, sumOf(pattern)]),
  );
}

export class Lane {
  #url;
  #socket;
  #frames;
  #fields;

  /** @param fields of every request */
  static async open({ url, modelId }, fields) {
    const lane = new Lane();
    lane.#url = url;
    lane.#fields = { type: "response.create", model: modelId, ...fields };
    lane.#socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, {
      perMessageDeflate: false,
    });
    lane.#frames = framesOf(lane.#socket);
    await once(lane.#socket, "open");
    return lane;
  }

  /**
   * `{response, inputBytes, frameBytes, ...counters}` of one turn: what was sent, and by how much
   * the server's counters grew.
   */
  async turn(input, fields) {
    const before = await readCounters(this.#url);
    const frame = JSON.stringify({ ...this.#fields, ...fields, input });
    this.#socket.send(frame);
    const response = await this.#terminal();
    const after = await readCounters(this.#url);
    const grown = Object.keys(after).map((name) => [name, after[name] - before[name]]);
    return {
      response,
      inputBytes: Buffer.byteLength(JSON.stringify(input)),
      frameBytes: Buffer.byteLength(frame),
      ...Object.fromEntries(grown),
    };
  }

  close() {
    this.#socket.terminate();
  }

  async #terminal() {
    for (;;) {
      const { type, response, error } = await this.#frames.next();
      if (type === "error") throw new Error(`${error.code}: ${error.message}`);
      if (type === "response.failed") throw new Error(response.error.message);
      if (type === "response.completed" || type === "response.incomplete") return response;
    }
  }
}
