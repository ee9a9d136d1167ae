import { expect, test } from "vitest";
import { QueuePace } from "../../../src/engine/queue-pace.ts";

test("the time to wait grows with the queue and with the time that each turn takes", () => {
  const pace = new QueuePace();
  for (let i = 0; i < 50; i++) pace.taken(i * 2_000, 3);
  expect(pace.secondsFor(1)).toBe(2);
  expect(pace.secondsFor(8)).toBe(16);
  for (let i = 0; i < 50; i++) pace.taken(98_000 + i * 100, 3);
  expect(pace.secondsFor(8)).toBe(1);
});

test("it is a second at least and a minute at most", () => {
  const pace = new QueuePace();
  expect(pace.secondsFor(0)).toBe(1);
  expect(pace.secondsFor(1_000)).toBe(60);
});

test("time in which nothing waited is not counted", () => {
  const pace = new QueuePace();
  pace.taken(0, 1);
  pace.taken(1_000, 0);
  pace.taken(1_000_000, 1);
  pace.taken(1_001_000, 0);
  expect(pace.secondsFor(5)).toBe(5);
});
