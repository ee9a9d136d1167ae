/**
 * Reasoning as the opaque text that clients keep and send back: a version byte and the reasoning, in
 * base64. It is the client's own and no secret, so it is not encrypted. Pure.
 */
const VERSION = 1;

export function encodeReasoning(text: string): string {
  return Buffer.concat([Buffer.of(VERSION), Buffer.from(text, "utf8")]).toString("base64");
}

/** undefined: another server's. */
export function decodeReasoning(blob: string): string | undefined {
  const bytes = Buffer.from(blob, "base64");
  if (bytes[0] !== VERSION || bytes.toString("base64") !== blob) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(1));
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
