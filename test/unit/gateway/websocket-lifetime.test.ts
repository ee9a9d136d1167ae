import { afterEach, describe, expect, test, vi } from "vitest";
import { begin, emitDelta, end, holdTurns, holdUntilAborted } from "./fake-session.ts";
import { isError, isTerminal, startGateway, type TestGateway } from "./test-gateway.ts";

let server: TestGateway;
afterEach(async () => {
  vi.useRealTimers();
  await server.gateway.close();
});

describe("lifetime", () => {
  test("a client that drops TCP cancels what runs and forgets what waits", async () => {
    server = await startGateway();
    const aborted = new Promise<void>((resolve) => {
      server.session.script = (turn) => {
        turn.signal.addEventListener("abort", () => resolve());
        return holdUntilAborted(turn);
      };
    });
    const socket = await server.connect();
    socket.create();
    socket.create();
    await socket.until((frame) => frame.type === "response.in_progress");
    expect(server.session.numOpenConnections).toBe(1);
    socket.socket.terminate();
    await aborted;
    await expect.poll(() => server.session.numOpenConnections).toBe(0);
    expect(server.session.turns).toHaveLength(1);
  });

  test("past its age the running response ends and the next request is told to reconnect", async () => {
    server = await startGateway();
    const held = holdTurns(server.session);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const socket = await server.connect();
    socket.create();
    await socket.until((frame) => frame.type === "response.in_progress");
    vi.advanceTimersByTime(60 * 60_000);
    socket.create();
    expect((await socket.until(isError)).at(-1)).toMatchObject({
      status: 400,
      error: {
        code: "websocket_connection_limit_reached",
        message: "This connection reached its 60 minute limit; open a new one.",
      },
    });
    held[0]?.();
    expect(await socket.closed).toBe(1000);
    expect(socket.frames.at(-1)?.type).toBe("response.completed");
  });

  test("a peer that answers no ping is cut", async () => {
    server = await startGateway({ limits: { pingIntervalMs: 5, pongTimeoutMs: 5 } });
    const socket = await server.connect({ autoPong: false });
    expect(await socket.closed).toBe(1006);
  });

  test("a drain closes idle sockets with 1001, busy ones after their response", async () => {
    server = await startGateway();
    const held = holdTurns(server.session);
    const idle = await server.connect();
    const busy = await server.connect();
    busy.create();
    busy.create({ input: "waits behind the first" });
    await busy.until((frame) => frame.type === "response.in_progress");
    const drained = server.gateway.drain(60_000);
    expect(await idle.closed).toBe(1001);
    busy.create({ stream_id: "late" });
    await busy.until(isError);
    held[0]?.();
    expect(await busy.closed).toBe(1001);
    expect(busy.frames.map((frame) => frame.type)).toEqual([
      "response.created",
      "response.in_progress",
      "error",
      "response.completed",
      "error",
    ]);
    await drained;
  });

  test("a response that outlasts the drain ends with response.failed", async () => {
    server = await startGateway();
    server.session.script = holdUntilAborted;
    const socket = await server.connect();
    socket.create();
    await socket.until((frame) => frame.type === "response.in_progress");
    await server.gateway.drain(1);
    expect(await socket.closed).toBe(1001);
    expect(socket.frames.at(-1)).toMatchObject({ type: "response.failed", sequence_number: 2 });
  });
});

describe("back-pressure", () => {
  test("a client that reads slowly gets merged deltas, all of the text and no gap", async () => {
    server = await startGateway({ limits: { softBacklogBytes: 1 << 16 } });
    const numDeltas = 4_000;
    server.session.script = async (turn) => {
      begin(turn);
      for (let i = 0; i < numDeltas; i++) emitDelta(turn, `${i} ${"x".repeat(500)};`);
      return end(turn, []);
    };
    const socket = await server.connect();
    socket.create();
    const frames = await socket.until(isTerminal);
    expect(frames.length).toBeLessThan(numDeltas);
    frames.forEach((frame, index) => {
      expect(frame.sequence_number).toBe(index);
    });
    const text = frames.map((frame) => frame.delta ?? "").join("");
    expect(text.match(/\d+ /g)?.map(Number)).toEqual(
      Array.from({ length: numDeltas }, (_, i) => i),
    );
  });

  test("generation pauses while a client does not read, and goes on when it does", async () => {
    server = await startGateway({
      limits: { softBacklogBytes: 1 << 16, hardBacklogBytes: 1 << 30 },
    });
    let finish: (() => void) | undefined;
    server.session.script = (turn) => {
      begin(turn);
      for (let i = 0; i < 32; i++) emitDelta(turn, "x".repeat(1 << 20));
      return new Promise((resolve) => {
        finish = () => resolve(end(turn, []));
      });
    };
    const isPaused = () => server.session.turns[0]?.context.flow?.isPaused;
    const socket = await server.connect();
    socket.socket.pause();
    socket.create();
    await expect.poll(isPaused).toBe(true);
    socket.socket.resume();
    await expect.poll(isPaused, { timeout: 20_000 }).toBe(false);
    finish?.();
    await socket.until(isTerminal);
  });

  test("text that is held back counts: a client that reads nothing is cut at the hard mark", async () => {
    server = await startGateway({
      limits: { softBacklogBytes: 1 << 16, hardBacklogBytes: 16 << 20, closeGraceMs: 20 },
    });
    const aborted = new Promise<void>((resolve) => {
      server.session.script = (turn) => {
        turn.signal.addEventListener("abort", () => resolve());
        const ended = holdUntilAborted(turn);
        for (let i = 0; i < 40; i++) emitDelta(turn, "x".repeat(1 << 20));
        return ended;
      };
    });
    const socket = await server.connect();
    socket.socket.pause();
    socket.create();
    await aborted;
    await expect.poll(() => server.session.numOpenConnections).toBe(0);
  });

  test("a client that reads nothing is cut with 1013 and its responses cancelled", async () => {
    server = await startGateway({
      limits: {
        softBacklogBytes: 1 << 16,
        hardBacklogBytes: 1 << 30,
        drainTimeoutMs: 20,
        closeGraceMs: 20,
      },
    });
    const aborted = new Promise<void>((resolve) => {
      server.session.script = (turn) => {
        turn.signal.addEventListener("abort", () => resolve());
        const ended = holdUntilAborted(turn);
        for (let i = 0; i < 64; i++) emitDelta(turn, "x".repeat(1 << 20));
        return ended;
      };
    });
    const socket = await server.connect();
    socket.create();
    socket.socket.pause();
    await aborted;
    await expect.poll(() => server.session.numOpenConnections).toBe(0);
  });
});
