/**
 * Chooses the worker of a turn from snapshots: pure, no state, no clock. The lane's worker keeps its
 * lane while it is not overloaded (its cache makes the prompt nearly free); everything else goes
 * where the least work waits.
 */
import type { RouteChoice, RouteHint, WorkerSnapshot } from "../engine/endpoint.ts";

/** A lane leaves its worker when that one has this share of its slots more in flight than another. */
const SPILL_SHARE = 0.5;

export function chooseWorker(
  candidates: readonly WorkerSnapshot[],
  hint: RouteHint,
): RouteChoice | undefined {
  const alive = candidates.filter((candidate) => candidate.isAlive);
  const least = alive.toSorted(compareLoad)[0];
  if (least === undefined) return undefined;
  const lane = alive.find((candidate) => candidate.workerId === hint.laneWorkerId);
  if (lane === undefined) return { workerId: least.workerId, why: "least-loaded" };
  return isOverloaded(lane, least)
    ? { workerId: least.workerId, why: "lane-overloaded" }
    : { workerId: lane.workerId, why: "lane" };
}

function isOverloaded(lane: WorkerSnapshot, least: WorkerSnapshot): boolean {
  if (least.inFlight >= least.slots) return false; // nowhere to go: waiting keeps the cache
  if (lane.inFlight >= lane.slots) return true;
  return lane.inFlight - least.inFlight > lane.slots * SPILL_SHARE;
}

/**
 * Share of slots in use, then prompt tokens that wait, then turns ever given: always breaking ties to
 * the first worker would leave the caches of the others empty.
 */
function compareLoad(a: WorkerSnapshot, b: WorkerSnapshot): number {
  return (
    a.inFlight / a.slots - b.inFlight / b.slots ||
    a.queuedTokens - b.queuedTokens ||
    a.startedTurns - b.startedTurns
  );
}
