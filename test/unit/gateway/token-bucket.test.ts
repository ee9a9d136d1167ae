import { expect, test } from "vitest";
import { TokenBucket } from "../../../src/gateway/token-bucket.ts";

test("it starts full, empties and is refilled evenly", () => {
  const bucket = new TokenBucket(60, 0);
  expect(bucket.remaining(0)).toBe(60);
  bucket.take(60, 0);
  expect(bucket.remaining(0)).toBe(0);
  expect(bucket.waitMs(0)).toBe(1_000);
  expect(bucket.remaining(10_000)).toBe(10);
  expect(bucket.waitMs(10_000)).toBe(0);
});

test("it holds one minute's worth at most", () => {
  const bucket = new TokenBucket(60, 0);
  expect(bucket.remaining(3_600_000)).toBe(60);
  bucket.take(1, 3_600_000);
  expect(bucket.remaining(3_600_000)).toBe(59);
  expect(bucket.resetMs(3_600_000)).toBe(1_000);
});

test("an overdrawn budget stays empty until the debt is paid", () => {
  const bucket = new TokenBucket(1_000, 0);
  bucket.take(3_000, 0);
  expect(bucket.remaining(0)).toBe(0);
  expect(bucket.waitMs(0)).toBe(120_060);
  expect(bucket.remaining(120_000)).toBe(0);
  expect(bucket.remaining(120_060)).toBe(1);
  expect(bucket.resetMs(0)).toBe(180_000);
});
