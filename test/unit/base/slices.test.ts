import { expect, test } from "vitest";
import { fromSlices, toSlices } from "../../../src/base/slices.ts";

test("a long list comes back as it was, from more than one slice", async () => {
  const values = Array.from({ length: 100 }, (_, index) => ({
    id: `item_${index}`,
    text: `${index} grüße `.repeat(2_000),
  }));
  const slices = toSlices(values);
  expect(slices.length).toBeGreaterThan(2);
  expect(await fromSlices(slices)).toEqual(values);
});

test("so do short and empty lists", async () => {
  for (const values of [[], ["one"], [{ a: [1, null] }, "two"]]) {
    expect(await fromSlices(toSlices(values))).toEqual(values);
  }
});
