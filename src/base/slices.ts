/**
 * Long lists on their way between threads. A message is read in one piece, which for thousands of items
 * takes tens of milliseconds; as slices they are read with turns of the event loop between them.
 */
import { setImmediate } from "node:timers/promises";
import { deserialize, serialize } from "node:v8";
import { jsonChars } from "./json-chars.ts";

/** Read in a millisecond or two. */
const SLICE_CHARS = 256 * 1024;

export type Slices = readonly Uint8Array[];

export function toSlices(values: readonly unknown[]): Slices {
  const slices: Uint8Array[] = [];
  let start = 0;
  let chars = 0;
  for (const [index, value] of values.entries()) {
    chars += jsonChars(value);
    if (chars < SLICE_CHARS && index < values.length - 1) continue;
    slices.push(serialize(values.slice(start, index + 1)));
    start = index + 1;
    chars = 0;
  }
  return slices;
}

/** The values are as they were. */
export async function fromSlices(slices: Slices): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  for (const slice of slices) {
    await setImmediate();
    values.push(...(deserialize(slice) as readonly unknown[]));
  }
  return values;
}
