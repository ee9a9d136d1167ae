/** How many choices a request wants and with which seeds; shared by Chat Completions and Completions. */
import type { FieldReader } from "./field-reader.ts";
import { MAX_CHOICES } from "./request-limits.ts";

/** One seed a choice, in order: choices differ, and the same request gives them again. */
export function parseSeeds(
  body: FieldReader,
  seed: number | undefined,
): readonly (number | undefined)[] {
  const numChoices = body.integer("n", { min: 1, max: MAX_CHOICES }) ?? 1;
  return Array.from({ length: numChoices }, (_, index) =>
    seed === undefined ? undefined : seedOf(seed, index),
  );
}

/** Behind the largest seed comes 0. */
function seedOf(seed: number, index: number): number {
  const numLeft = Number.MAX_SAFE_INTEGER - seed;
  return index <= numLeft ? seed + index : index - numLeft - 1;
}
