/**
 * A slow network in this process: a TCP proxy whose bytes arrive late, and upwards at a limited rate. A
 * round trip takes twice `delayMs`; opening a connection costs one, as a handshake does. What TCP makes
 * of such a path (slow start, losses) is not modelled.
 */
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** What one packet carries. */
const SEGMENT_BYTES = 1460;
/** The end of one direction is handed on like its bytes, and leaves the other one open. */
const HALF_OPEN = { allowHalfOpen: true };

/** Lets bytes through at a rate, and as many as it has saved at once. */
export class TokenBucket {
  #bytesPerMs;
  #depthBytes;
  #savedBytes;
  #seenMs = 0;

  constructor({ bitsPerSecond, depthBytes = SEGMENT_BYTES }) {
    this.#bytesPerMs = bitsPerSecond / 8 / 1000;
    this.#depthBytes = depthBytes;
    this.#savedBytes = depthBytes;
  }

  /** When bytes that are sent now are through; what is not saved yet is owed. */
  departureMs(nowMs, numBytes) {
    const gained = (nowMs - this.#seenMs) * this.#bytesPerMs;
    this.#savedBytes = Math.min(this.#depthBytes, this.#savedBytes + gained) - numBytes;
    this.#seenMs = nowMs;
    return nowMs + Math.max(0, -this.#savedBytes / this.#bytesPerMs);
  }
}

/** One direction of a connection: hands on what is pushed, in order, when it arrives. */
export class ShapedPipe {
  #clock;
  #delayMs;
  #bucket;
  #opensAtMs;
  #deliver;
  #segments = [];
  #isWaiting = false;

  /**
   * @param path `clock` as in src/base/clock.ts; without a `bucket` the rate is not limited
   * @param {(segment: Buffer | undefined) => void} deliver undefined is the end
   */
  constructor({ clock, delayMs, bucket, opensAtMs = 0 }, deliver) {
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#bucket = bucket;
    this.#opensAtMs = opensAtMs;
    this.#deliver = deliver;
  }

  push(chunk) {
    for (let start = 0; start < chunk.length; start += SEGMENT_BYTES) {
      this.#send(chunk.subarray(start, start + SEGMENT_BYTES));
    }
  }

  end() {
    this.#send(undefined);
  }

  #send(segment) {
    const sentMs = Math.max(this.#clock.nowMs(), this.#opensAtMs);
    const departureMs = this.#bucket?.departureMs(sentMs, segment?.length ?? 0) ?? sentMs;
    this.#segments.push({ segment, arrivalMs: departureMs + this.#delayMs });
    this.#wait();
  }

  #wait() {
    const [next] = this.#segments;
    if (this.#isWaiting || next === undefined) return;
    this.#isWaiting = true;
    this.#clock.schedule(Math.max(0, next.arrivalMs - this.#clock.nowMs()), () => {
      this.#isWaiting = false;
      const nowMs = this.#clock.nowMs();
      while (this.#segments[0]?.arrivalMs <= nowMs) this.#deliver(this.#segments.shift().segment);
      this.#wait();
    });
  }
}

export class ShapingProxy {
  #options;
  #server;
  #sockets = new Set();

  /** @param options `targetUrl` (http), `delayMs` each way, `upBitsPerSecond`, `clock` */
  static async start(options) {
    const proxy = new ShapingProxy();
    proxy.#options = options;
    proxy.#server = createServer(HALF_OPEN, (client) => proxy.#join(client));
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  stop() {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client) {
    const { targetUrl, clock, delayMs, upBitsPerSecond } = this.#options;
    const { hostname, port } = new URL(targetUrl);
    const server = connect({ host: hostname, port: Number(port || 80), ...HALF_OPEN });
    const bucket = new TokenBucket({ bitsPerSecond: upBitsPerSecond });
    const opensAtMs = clock.nowMs() + 2 * delayMs;
    forward(client, server, { clock, delayMs, bucket, opensAtMs });
    forward(server, client, { clock, delayMs });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => other.destroy());
      socket.on("close", () => this.#sockets.delete(socket));
    }
  }
}

function forward(from, to, path) {
  const pipe = new ShapedPipe(path, (segment) => {
    if (segment === undefined) to.end();
    else to.write(segment);
  });
  from.on("data", (chunk) => pipe.push(chunk));
  from.on("end", () => pipe.end());
}
