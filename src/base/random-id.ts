/** Opaque ids of the wire: a prefix and 24 url-safe random characters (144 bits). */
import { randomBytes } from "node:crypto";

const RANDOM_BYTES = 18;

/** Responses ids have the form `prefix_random`; chat completions use a hyphen. */
export function randomId(prefix: string, separator: "_" | "-" = "_"): string {
  return `${prefix}${separator}${randomBytes(RANDOM_BYTES).toString("base64url")}`;
}
