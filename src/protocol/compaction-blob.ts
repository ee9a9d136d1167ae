/**
 * A summary as the opaque text of a compaction item, which clients keep and send back: a version byte,
 * eight bytes of the text's SHA-256 and the text, in base64. It needs nothing of this server, so that it
 * outlives a restart; it is the client's own conversation and no secret. Pure.
 */
import { createHash } from "node:crypto";

const VERSION = 1;
const DIGEST_BYTES = 8;

export function encodeSummary(summary: string): string {
  const text = Buffer.from(summary, "utf8");
  return Buffer.concat([Buffer.of(VERSION), digestOf(text), text]).toString("base64");
}

/** undefined: another server's, or changed on the way. */
export function decodeSummary(blob: string): string | undefined {
  const bytes = Buffer.from(blob, "base64");
  const text = bytes.subarray(1 + DIGEST_BYTES);
  const isWhole = bytes.subarray(1, 1 + DIGEST_BYTES).equals(digestOf(text));
  return bytes[0] === VERSION && isWhole ? text.toString("utf8") : undefined;
}

function digestOf(text: Buffer): Buffer {
  return createHash("sha256").update(text).digest().subarray(0, DIGEST_BYTES);
}
