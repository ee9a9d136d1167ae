// Equality, size and numbers as the cases mean them.
import { isDeepStrictEqual } from "node:util";

/** A missing value counts as null. */
export const equal = (a, b) => isDeepStrictEqual(a ?? null, b ?? null);

/** Code points of a text, elements of a list. */
export const size = (value) => (typeof value === "string" ? [...value].length : value?.length);

export const isNumber = (value) => typeof value === "number" && !Number.isNaN(value);

/** What decoders put in place of bytes that are no UTF-8. */
export const REPLACEMENT = "\ufffd";
