import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OutputFlow } from "../../../src/base/output-flow.ts";
import type {
  EngineError,
  TurnEvent,
  TurnRequest,
  WorkerSnapshot,
} from "../../../src/engine/endpoint.ts";
import { GREEDY } from "../../../src/engine/native-engine.ts";
import { EnginePool } from "../../../src/engine/pool.ts";
import type { EngineOptions } from "../../../src/native/addon-types.ts";
import type { EngineFailure } from "../../../src/native/engine-errors.ts";
import { chooseWorker } from "../../../src/router/score.ts";
import { ENDLESS_KV_BYTES, ENDLESS_TOKENS, writeEndlessModel } from "../../endless-model.ts";

const MAX_RUNNING = 2;

const ENGINE_OPTIONS: EngineOptions = {
  modelPath: writeEndlessModel(),
  threads: 1,
  isa: "auto",
  activations: "wide",
  quantize: "none",
  kvType: "f16",
  kvMemoryBytes: ENDLESS_KV_BYTES,
  maxContextTokens: 0,
  maxBatchTokens: 64,
  maxRunning: MAX_RUNNING,
  maxQueued: 3,
  maxPrefillChunk: 0,
  enablePrefixCache: true,
};

function makeTurn(fields: Partial<TurnRequest> = {}): TurnRequest {
  return {
    tokens: Int32Array.of(1, 20, 30),
    tenantSalt: "",
    sampling: GREEDY,
    maxOutputTokens: 4,
    stop: [],
    stopAfterCall: false,
    keepSequence: false,
    prefillOnly: false,
    ...fields,
  };
}

/** A turn without output: wherever it runs and however often it starts, it ends the same. */
function makePrefill(fields: Partial<TurnRequest> = {}): TurnRequest {
  return makeTurn({ prefillOnly: true, maxOutputTokens: 0, ...fields });
}

const never = new AbortController().signal;
const ignore = () => undefined;

/** Starts a turn; `admitted` resolves with the first news that a worker has it. */
function startTurn(pool: EnginePool, request: TurnRequest, signal: AbortSignal = never) {
  const events: TurnEvent[] = [];
  let heard: () => void = ignore;
  const admitted = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const result = pool.runTurn(
    request,
    (event) => {
      events.push(event);
      if (event.type !== "queued") heard();
    },
    signal,
  );
  return { events, admitted, result };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

const idle = (snapshots: readonly WorkerSnapshot[]) =>
  snapshots.every(({ inFlight, isAlive }) => inFlight === 0 && isAlive);

describe("a pool of two workers", () => {
  const failures: EngineFailure[] = [];
  let pool: EnginePool;
  beforeAll(async () => {
    pool = await EnginePool.create({
      engines: 2,
      engine: ENGINE_OPTIONS,
      chooseWorker,
      onFailure: (failure) => failures.push(failure),
    });
  });
  afterAll(() => pool.close());

  test("a turn is admitted, streams text and ends with its tokens", async () => {
    const { events, result } = startTurn(pool, makeTurn());
    const { finish, tokens, promptTokens } = await result;
    expect([finish, tokens.length, promptTokens]).toEqual(["length", 4, 3]);
    expect(events[0]).toMatchObject({ type: "admitted", promptTokens: 3 });
    expect(events.slice(1).every(({ type }) => type === "output")).toBe(true);
  });

  test("the same greedy turn gives the same tokens on both workers", async () => {
    const [first, second] = pool.snapshots().map(({ workerId }) => workerId);
    const runs = [first, second].map((laneWorkerId) =>
      pool.runTurn(makeTurn({ laneWorkerId: laneWorkerId as number }), ignore, never),
    );
    const [a, b] = await Promise.all(runs);
    expect(a?.tokens).toEqual(b?.tokens);
  });

  test("a turn's output is held to its grammar, on whatever worker", async () => {
    const grammar = JSON.stringify({ choice: [{ literal: "yes, it is" }, { literal: "no" }] });
    for (const { workerId } of pool.snapshots()) {
      const request = makeTurn({ grammar, maxOutputTokens: 50, laneWorkerId: workerId });
      const { events, result } = startTurn(pool, request);
      expect((await result).finish).toBe("stop");
      const output = events.flatMap((event) => (event.type === "output" ? event.events : []));
      const text = output.map((event) => (event.type === "text" ? event.delta : "")).join("");
      expect(["yes, it is", "no"]).toContain(text);
    }
  });

  test("a grammar that is none fails its turn with the reason", async () => {
    const turn = pool.runTurn(makeTurn({ grammar: '{"regex": "("}' }), ignore, never);
    await expect(turn).rejects.toMatchObject({ name: "EngineError", code: "ERR_GRAMMAR" });
  });

  test("the caller's token array stays usable", async () => {
    const request = makeTurn();
    await pool.runTurn(request, ignore, never);
    expect([...request.tokens]).toEqual([1, 20, 30]);
  });

  test("a continuation computes only what is new, and continues as the whole list would", async () => {
    const first = await pool.runTurn(makeTurn({ keepSequence: true }), ignore, never);
    const sequence = first.sequence;
    expect(sequence?.numTokens).toBe(7);
    const more = Int32Array.of(40, 41);
    const continued = await pool.runTurn(
      makeTurn({ tokens: more, ...(sequence && { continueFrom: sequence }) }),
      ignore,
      never,
    );
    expect(continued).toMatchObject({ promptTokens: 9, cachedTokens: 6, liveHit: true });
    const whole = Int32Array.of(1, 20, 30, ...first.tokens, ...more);
    const fresh = await pool.runTurn(makeTurn({ tokens: whole }), ignore, never);
    expect(continued.tokens).toEqual(fresh.tokens);
  });

  test("a fork leaves the sequence usable; a released one is gone", async () => {
    const { sequence } = await pool.runTurn(makeTurn({ keepSequence: true }), ignore, never);
    if (sequence === undefined) throw new Error("no sequence was kept");
    const branch = makeTurn({ tokens: Int32Array.of(50), continueFrom: sequence, fork: true });
    const [a, b] = [
      await pool.runTurn(branch, ignore, never),
      await pool.runTurn(branch, ignore, never),
    ];
    expect(a.tokens).toEqual(b.tokens);
    const numLive = async () =>
      (await pool.stats()).reduce((sum, { numLiveSequences }) => sum + numLiveSequences, 0);
    const before = await numLive();
    pool.release(sequence);
    while ((await numLive()) === before) await new Promise((resolve) => setImmediate(resolve));
    await expect(pool.runTurn(branch, ignore, never)).rejects.toMatchObject({
      code: "ERR_SEQUENCE_RELEASED",
    });
  });

  test("a prefill-only turn ends without tokens and can be continued", async () => {
    const warm = await pool.runTurn(makePrefill({ keepSequence: true }), ignore, never);
    expect([warm.finish, warm.tokens.length]).toEqual(["prefilled", 0]);
    expect(warm.sequence?.numTokens).toBe(3);
  });

  test("an abort in mid-stream ends the turn as aborted and frees its slot", async () => {
    const controller = new AbortController();
    const turn = startTurn(pool, makeTurn({ maxOutputTokens: ENDLESS_TOKENS }), controller.signal);
    await turn.admitted;
    controller.abort();
    expect((await turn.result).finish).toBe("aborted");
    expect(idle(pool.snapshots())).toBe(true);
  });

  test("a turn whose output is not taken computes nothing until it is", async () => {
    const controller = new AbortController();
    const flow = new OutputFlow();
    let numEvents = 0;
    const request = makeTurn({ maxOutputTokens: ENDLESS_TOKENS });
    const result = pool.runTurn(request, () => numEvents++, controller.signal, flow);
    await until(() => numEvents > 0);
    flow.pause();
    let numBefore: number;
    do {
      numBefore = numEvents;
      await pool.runTurn(makeTurn(), ignore, never);
    } while (numEvents > numBefore);
    flow.resume();
    await until(() => numEvents > numBefore);
    controller.abort();
    expect((await result).finish).toBe("aborted");
  });

  test("an abort at once, before any worker heard of the turn, ends it too", async () => {
    const controller = new AbortController();
    const turn = startTurn(pool, makeTurn({ maxOutputTokens: ENDLESS_TOKENS }), controller.signal);
    controller.abort();
    expect((await turn.result).finish).toBe("aborted");
    const already = startTurn(pool, makeTurn(), controller.signal);
    expect((await already.result).finish).toBe("aborted");
  });

  test("turns beyond the slots wait and say so; beyond the queue they are refused", async () => {
    const controller = new AbortController();
    const turns = Array.from({ length: 2 * MAX_RUNNING + ENGINE_OPTIONS.maxQueued }, () =>
      startTurn(pool, makeTurn({ maxOutputTokens: ENDLESS_TOKENS }), controller.signal),
    );
    const waiting = turns.slice(2 * MAX_RUNNING);
    expect(waiting.map(({ events }) => events)).toEqual(waiting.map(() => [{ type: "queued" }]));
    await expect(startTurn(pool, makeTurn()).result).rejects.toMatchObject({
      code: "ERR_QUEUE_FULL",
    });
    controller.abort();
    const results = await Promise.all(turns.map(({ result }) => result));
    expect(results.every(({ finish }) => finish === "aborted")).toBe(true);
  });

  test("a refused prompt is an EngineError with the native code", async () => {
    const tokens = new Int32Array(pool.info.context + 1).fill(5);
    const error = await pool.runTurn(makeTurn({ tokens }), ignore, never).catch((e: unknown) => e);
    expect(error).toMatchObject({ name: "EngineError", code: "ERR_CONTEXT_TOO_LONG" });
    expect((error as EngineError).message).not.toContain("ERR_");
  });

  test("a listener that throws ends its own turn only", async () => {
    const other = startTurn(pool, makeTurn());
    const broken = pool.runTurn(
      makeTurn({ maxOutputTokens: ENDLESS_TOKENS }),
      () => {
        throw new RangeError("from the listener");
      },
      never,
    );
    await expect(broken).rejects.toThrow(RangeError);
    expect((await other.result).finish).toBe("length");
    expect(idle(pool.snapshots())).toBe(true);
  });

  test("the statistics of every worker are there", async () => {
    expect(await pool.stats()).toHaveLength(2);
  });

  test("a worker's death fails turns with output, restarts those without and brings a new worker", async () => {
    const [doomed] = pool.snapshots().map(({ workerId }) => workerId);
    const laneWorkerId = doomed as number;
    const kept = await pool.runTurn(makeTurn({ laneWorkerId, keepSequence: true }), ignore, never);
    const streaming = startTurn(pool, makeTurn({ laneWorkerId, maxOutputTokens: ENDLESS_TOKENS }));
    await streaming.admitted;
    await until(() => streaming.events.some(({ type }) => type === "output"));
    const silent = startTurn(pool, makePrefill({ laneWorkerId }));
    const killed = pool.terminateWorker(laneWorkerId);
    await expect(streaming.result).rejects.toMatchObject({ code: "ERR_ENGINE_FAILED" });
    expect((await silent.result).finish).toBe("prefilled");
    await killed;
    expect(failures.some(({ code }) => code === "ERR_ENGINE_FAILED")).toBe(true);
    const orphan = makeTurn({ ...(kept.sequence && { continueFrom: kept.sequence }) });
    await expect(pool.runTurn(orphan, ignore, never)).rejects.toMatchObject({
      code: "ERR_SEQUENCE_RELEASED",
    });
    await until(() => idle(pool.snapshots()));
    expect(pool.snapshots()).toHaveLength(2);
    expect(pool.snapshots().some(({ workerId }) => workerId === laneWorkerId)).toBe(false);
  });
});

test("the only worker's death does not lose a turn that waits", async () => {
  const pool = await EnginePool.create({ engines: 1, engine: ENGINE_OPTIONS, chooseWorker });
  const [worker] = pool.snapshots();
  const turn = startTurn(pool, makePrefill());
  await pool.terminateWorker(worker?.workerId as number);
  expect((await turn.result).finish).toBe("prefilled");
  await pool.close();
});

test("closing ends open turns with ERR_ENGINE_CLOSED and refuses later ones", async () => {
  const pool = await EnginePool.create({ engines: 1, engine: ENGINE_OPTIONS, chooseWorker });
  const turns = Array.from({ length: MAX_RUNNING + 1 }, () =>
    startTurn(pool, makeTurn({ maxOutputTokens: ENDLESS_TOKENS })),
  );
  await turns[0]?.admitted;
  const outcomes = Promise.allSettled(turns.map(({ result }) => result));
  await Promise.all([pool.close(), pool.close()]);
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ reason: { code: "ERR_ENGINE_CLOSED" } });
  }
  await expect(startTurn(pool, makeTurn()).result).rejects.toMatchObject({
    code: "ERR_ENGINE_CLOSED",
  });
});

test("a model that does not load refuses the whole pool with the native code", async () => {
  const engine = { ...ENGINE_OPTIONS, modelPath: "/nonexistent.gguf" };
  const opening = EnginePool.create({ engines: 2, engine, chooseWorker });
  await expect(opening).rejects.toMatchObject({ name: "EngineError", code: "ERR_MODEL_FILE" });
});
