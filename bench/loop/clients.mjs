/**
 * The agent's side of the two transports. Both stream; both count what their sockets carried, headers
 * and frames included. Nothing is compressed on either.
 */
import { once } from "node:events";
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { WebSocket } from "ws";

const TERMINAL = /^response\.(completed|incomplete|failed)$/;

/** The server does not take such a request: no reason to stop the other modes. */
export class RefusedRequest extends Error {}

/** @param server `{url, apiKey}`, the url without `/v1` */
export function openClient(transport, server) {
  return transport === "http" ? new HttpClient(server) : SocketClient.open(server);
}

/** What every client knows of its connections. */
class SocketCounter {
  #sockets = [];

  /** An agent whose sockets are counted. */
  agentFor(url) {
    const Agent = url.protocol === "https:" ? HttpsAgent : HttpAgent;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const connect = agent.createConnection.bind(agent);
    agent.createConnection = (...args) => {
      const socket = connect(...args);
      this.#sockets.push(socket);
      return socket;
    };
    return agent;
  }

  /** Bytes above TCP; sockets beyond the first are reconnects. */
  read() {
    const sum = (name) => this.#sockets.reduce((total, socket) => total + socket[name], 0);
    return {
      sentBytes: sum("bytesWritten"),
      receivedBytes: sum("bytesRead"),
      reconnects: Math.max(0, this.#sockets.length - 1),
    };
  }
}

/** Times of one turn, from before its request is written to its terminal event. */
class TurnWatch {
  #startMs = performance.now();
  #ttftMs;

  /** The turn's result once the event ends it. @throws {RefusedRequest} */
  see(event) {
    const { type, response } = event;
    if (type === "response.output_text.delta") this.#ttftMs ??= performance.now() - this.#startMs;
    if (type === "error") throw new RefusedRequest(messageOf(event));
    if (!TERMINAL.test(type)) return undefined;
    if (type === "response.failed") throw new RefusedRequest(messageOf(response));
    const totalMs = performance.now() - this.#startMs;
    return { response, ttftMs: this.#ttftMs ?? totalMs, totalMs };
  }
}

class HttpClient {
  #url;
  #headers;
  #counter = new SocketCounter();
  #agent;

  constructor({ url, apiKey }) {
    this.#url = new URL(`${url}/v1/responses`);
    this.#headers = { ...authorization(apiKey), "content-type": "application/json" };
    this.#agent = this.#counter.agentFor(this.#url);
  }

  async respond(fields) {
    const watch = new TurnWatch();
    const body = JSON.stringify({ ...fields, stream: true });
    const response = await this.#post(body);
    if (response.statusCode !== 200) throw new RefusedRequest(await refusalOf(response));
    let result;
    for await (const event of eventsOf(response)) result ??= watch.see(event);
    if (result === undefined) throw new Error("the event stream ended without a terminal event");
    return result;
  }

  traffic() {
    return this.#counter.read();
  }

  close() {
    this.#agent.destroy();
  }

  async #post(body) {
    const send = this.#url.protocol === "https:" ? httpsRequest : httpRequest;
    const headers = { ...this.#headers, "content-length": Buffer.byteLength(body) };
    const request = send(this.#url, { method: "POST", headers, agent: this.#agent });
    request.end(body);
    const [response] = await once(request, "response");
    return response;
  }
}

async function* eventsOf(response) {
  response.setEncoding("utf8");
  let rest = "";
  for await (const chunk of response) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined && data !== "[DONE]") yield JSON.parse(data);
    }
  }
}

async function refusalOf(response) {
  response.setEncoding("utf8");
  let body = "";
  for await (const chunk of response) body += chunk;
  return `HTTP ${response.statusCode}: ${body.slice(0, 300)}`;
}

class SocketClient {
  #socket;
  #counter = new SocketCounter();
  #onFrame = () => undefined;
  #onLoss = () => undefined;

  static async open({ url, apiKey }) {
    const client = new SocketClient();
    const address = new URL(`${url.replace(/^http/, "ws")}/v1/responses`);
    const agent = client.#counter.agentFor(new URL(url));
    const headers = authorization(apiKey);
    const socket = new WebSocket(address, { agent, headers, perMessageDeflate: false });
    await handshake(socket);
    socket.on("message", (frame) => client.#onFrame(JSON.parse(frame)));
    socket.on("close", (code) => client.#onLoss(new Error(`the socket closed with ${code}`)));
    client.#socket = socket;
    return client;
  }

  respond(fields) {
    return new Promise((resolve, reject) => {
      const watch = new TurnWatch();
      this.#onLoss = reject;
      this.#onFrame = (event) => {
        try {
          const result = watch.see(event);
          if (result !== undefined) resolve(result);
        } catch (error) {
          reject(error);
        }
      };
      this.#socket.send(JSON.stringify({ type: "response.create", ...fields }));
    });
  }

  traffic() {
    return this.#counter.read();
  }

  close() {
    this.#socket.terminate();
  }
}

/** @throws {RefusedRequest} where WebSockets are not served */
function handshake(socket) {
  return new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
    socket.once("unexpected-response", (request, { statusCode }) => {
      request.destroy();
      reject(new RefusedRequest(`HTTP ${statusCode} for the upgrade to a WebSocket`));
    });
  });
}

const authorization = (apiKey) =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };

const messageOf = ({ error }) => error?.message ?? "no reason given";
