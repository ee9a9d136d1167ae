/** The clients of the benchmark: an agent's socket, senders of huge prompts, and sockets that only sit there. */
import { randomBytes } from "node:crypto";
import { on, once } from "node:events";
import { connect } from "node:net";
import { WebSocket } from "ws";

const PING = 0x89;
const EMPTY_PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** One lane that asks for short turns. */
export class ActiveLane {
  #socket;
  #frames;
  #ask;

  static async open({ url, modelId }) {
    const lane = new ActiveLane();
    lane.#socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`);
    lane.#frames = framesOf(lane.#socket);
    lane.#ask = JSON.stringify({
      type: "response.create",
      model: modelId,
      input: "What is the capital of France?",
      temperature: 0,
      max_output_tokens: 4,
      store: false,
    });
    await once(lane.#socket, "open");
    return lane;
  }

  /** Milliseconds to the first text and to the end. The prompt is cached after the first turn. */
  async turn() {
    const start = performance.now();
    let firstTextMs;
    this.#socket.send(this.#ask);
    for (;;) {
      const frame = await this.#frames.next();
      const { type } = frame;
      if (type === "response.output_text.delta") firstTextMs ??= performance.now() - start;
      if (type === "response.incomplete" || type === "response.completed") {
        return { firstTextMs, totalMs: performance.now() - start };
      }
      if (type === "error" || type === "response.failed") throw new Error(JSON.stringify(frame));
    }
  }

  close() {
    this.#socket.terminate();
  }
}

/** The frames of a socket, none lost between two calls of `next`. */
export function framesOf(socket) {
  const messages = on(socket, "message");
  return {
    async next() {
      const { value } = await messages.next();
      return JSON.parse(value[0]);
    },
  };
}

/** Sends a body and waits for its refusal: it is far longer than the context. */
export async function sendOverHttp({ url }, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/v1/responses`, { method: "POST", headers, body });
  const { error } = await response.json();
  if (error?.code !== "context_length_exceeded") throw new Error(`answered ${response.status}`);
}

export async function sendOverWebSocket({ url }, body) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`);
  const frames = framesOf(socket);
  await once(socket, "open");
  socket.send(body);
  for (;;) {
    const { type, response, error } = await frames.next();
    if (type === "error") throw new Error(error.message);
    if (type !== "response.failed") continue;
    if (response.error.code !== "context_length_exceeded") throw new Error(response.error.message);
    break;
  }
  socket.terminate();
}

/** Upgraded sockets that answer pings and do nothing else; returns the function that closes them. */
export async function openIdleSockets({ url }, count) {
  const sockets = [];
  const { hostname, port } = new URL(url);
  for (let i = 0; i < count; i++) sockets.push(await openIdleSocket(hostname, Number(port)));
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

async function openIdleSocket(host, port) {
  const socket = connect(port, host);
  const key = randomBytes(16).toString("base64");
  const lines = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
  const head = [`GET /v1/responses HTTP/1.1`, `Host: ${host}`, ...lines];
  socket.write(`${head.join("\r\n")}\r\nSec-WebSocket-Key: ${key}\r\n\r\n`);
  const [answer] = await once(socket, "data");
  if (!String(answer).startsWith("HTTP/1.1 101")) throw new Error(String(answer));
  socket.on("data", (data) => {
    if (data[0] === PING) socket.write(EMPTY_PONG);
  });
  return socket;
}
