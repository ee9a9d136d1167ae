import { expect, test } from "vitest";
import type { WorkerSnapshot } from "../../../src/engine/endpoint.ts";
import { chooseWorker } from "../../../src/router/score.ts";

function makeSnapshot(workerId: number, fields: Partial<WorkerSnapshot> = {}): WorkerSnapshot {
  return {
    workerId,
    inFlight: 0,
    queuedTokens: 0,
    slots: 8,
    startedTurns: 0,
    isAlive: true,
    ...fields,
  };
}

test("a lane stays on its worker although another one has less to do", () => {
  const candidates = [makeSnapshot(1), makeSnapshot(2, { inFlight: 3, queuedTokens: 900 })];
  expect(chooseWorker(candidates, { laneWorkerId: 2 })).toEqual({ workerId: 2, why: "lane" });
});

test("a lane leaves a worker that has half its slots more in flight than another", () => {
  const candidates = [makeSnapshot(1), makeSnapshot(2, { inFlight: 5 })];
  expect(chooseWorker(candidates, { laneWorkerId: 2 })).toEqual({
    workerId: 1,
    why: "lane-overloaded",
  });
});

test("a lane leaves a worker without a free slot", () => {
  const candidates = [makeSnapshot(1, { inFlight: 7 }), makeSnapshot(2, { inFlight: 8 })];
  expect(chooseWorker(candidates, { laneWorkerId: 2 })?.workerId).toBe(1);
});

test("a lane waits for its own worker when every worker is full", () => {
  const candidates = [makeSnapshot(1, { inFlight: 8 }), makeSnapshot(2, { inFlight: 8 })];
  expect(chooseWorker(candidates, { laneWorkerId: 2 })).toEqual({ workerId: 2, why: "lane" });
});

test("a dead worker gets nothing, its own lanes included", () => {
  const candidates = [makeSnapshot(1, { inFlight: 6 }), makeSnapshot(2, { isAlive: false })];
  expect(chooseWorker(candidates, { laneWorkerId: 2 })).toEqual({
    workerId: 1,
    why: "least-loaded",
  });
});

test("without a lane the smallest share of slots in use wins, then fewer waiting tokens", () => {
  const half = makeSnapshot(1, { inFlight: 2, slots: 4 });
  const quarter = makeSnapshot(2, { inFlight: 2, slots: 8, queuedTokens: 50 });
  const quarterWithLess = makeSnapshot(3, { inFlight: 2, slots: 8, queuedTokens: 40 });
  expect(chooseWorker([half, quarter, quarterWithLess], {})?.workerId).toBe(3);
});

test("ties go to the worker that was given fewer turns, so that no cache stays empty", () => {
  const candidates = [makeSnapshot(1, { startedTurns: 4 }), makeSnapshot(2, { startedTurns: 3 })];
  expect(chooseWorker(candidates, {})?.workerId).toBe(2);
});

test("no candidate alive is no choice", () => {
  expect(chooseWorker([], {})).toBeUndefined();
  expect(chooseWorker([makeSnapshot(1, { isAlive: false })], {})).toBeUndefined();
});
