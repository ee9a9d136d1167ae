/** The slow network of the loop benchmark: its delays and its rate, by a clock that tests move. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { ShapedPipe, ShapingProxy, TokenBucket } from "../../../bench/loop/shaping-proxy.mjs";
import { FakeClock } from "../session/fake-clock.ts";

const MEGABIT = 1e6;

/** A pipe with the times at which what it delivers came, in ms after its start. */
function timedPipe(path: { delayMs: number; bucket?: TokenBucket; opensInMs?: number }) {
  const clock = new FakeClock();
  const startMs = clock.nowMs();
  const arrivals: { ms: number; bytes: number | "end" }[] = [];
  const { delayMs, bucket, opensInMs = 0 } = path;
  const pipe = new ShapedPipe(
    { clock, delayMs, bucket, opensAtMs: startMs + opensInMs },
    (segment) => arrivals.push({ ms: clock.nowMs() - startMs, bytes: segment?.length ?? "end" }),
  );
  return { clock, pipe, arrivals };
}

describe("a token bucket", () => {
  test("of 1 Mbit/s lets 125 bytes through a millisecond, once its depth is used", () => {
    const bucket = new TokenBucket({ bitsPerSecond: MEGABIT, depthBytes: 1000 });
    expect(bucket.departureMs(0, 1000)).toBe(0);
    expect(bucket.departureMs(0, 12_500)).toBe(100);
    expect(bucket.departureMs(50, 125)).toBe(101);
  });

  test("saves no more than its depth while nothing is sent", () => {
    const bucket = new TokenBucket({ bitsPerSecond: MEGABIT, depthBytes: 1000 });
    expect(bucket.departureMs(1_000_000, 2000)).toBe(1_000_008);
  });
});

describe("a pipe", () => {
  test("without a rate delays everything alike", () => {
    const { clock, pipe, arrivals } = timedPipe({ delayMs: 50 });
    pipe.push(Buffer.alloc(100));
    clock.advance(20);
    pipe.push(Buffer.alloc(200));
    pipe.end();
    clock.advance(1000);
    expect(arrivals).toEqual([
      { ms: 50, bytes: 100 },
      { ms: 70, bytes: 200 },
      { ms: 70, bytes: "end" },
    ]);
  });

  test("with a rate delivers a long text segment by segment, no earlier than the rate allows", () => {
    const bucket = new TokenBucket({ bitsPerSecond: MEGABIT });
    const { clock, pipe, arrivals } = timedPipe({ delayMs: 50, bucket });
    pipe.push(Buffer.alloc(60_000));
    clock.advance(10_000);
    expect(arrivals).toHaveLength(Math.ceil(60_000 / 1460));
    expect(arrivals[0]).toEqual({ ms: 50, bytes: 1460 });
    const rate = (60_000 - 1460) / ((arrivals.at(-1)?.ms ?? 0) - 50);
    expect(rate).toBeCloseTo(125, 6);
  });

  test("carries nothing before its connection is open", () => {
    const { clock, pipe, arrivals } = timedPipe({ delayMs: 50, opensInMs: 100 });
    pipe.push(Buffer.alloc(10));
    clock.advance(1000);
    expect(arrivals).toEqual([{ ms: 150, bytes: 10 }]);
  });
});

test("the proxy carries both directions unchanged, and the end of a connection", async () => {
  const echo = createServer((socket: Socket) => socket.pipe(socket));
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
  let nowMs = 0;
  const clock = {
    nowMs: () => nowMs,
    schedule(delayMs: number, callback: () => void) {
      nowMs += delayMs + 1;
      callback();
    },
  };
  const proxy = await ShapingProxy.start({
    targetUrl: `http://127.0.0.1:${(echo.address() as AddressInfo).port}`,
    delayMs: 50,
    upBitsPerSecond: MEGABIT,
    clock,
  });
  const client = connect(Number(new URL(proxy.url).port), "127.0.0.1");
  const sent = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
  client.end(sent);
  const received: Buffer[] = [];
  for await (const chunk of client) received.push(chunk as Buffer);
  expect(Buffer.concat(received).equals(sent)).toBe(true);
  proxy.stop();
  echo.close();
});
