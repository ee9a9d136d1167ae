/** Opaque ids of the wire: `prefix_` and 24 url-safe random characters (144 bits). */
import { randomBytes } from "node:crypto";

const RANDOM_BYTES = 18;

export function randomId(prefix: string): string {
  return `${prefix}_${randomBytes(RANDOM_BYTES).toString("base64url")}`;
}
