/** Sizes that a request may have; everything larger is refused by name before it costs anything. */
import { invalidRequest } from "./api-error.ts";

export const MAX_INPUT_ITEMS = 4096;
export const MAX_TOOLS = 512;
/** Prompts of a completion times the choices for each. */
export const MAX_RUNS = 128;
export const MAX_CALL_ID_CHARS = 64;
export const MAX_TEXT_BYTES = 10 * 1024 * 1024;
export const MAX_STOP_STRINGS = 4;
export const MAX_TOP_LOGPROBS = 20;
export const MAX_CHOICES = 16;
export const MAX_METADATA_PAIRS = 16;
export const MAX_METADATA_KEY_CHARS = 64;
export const MAX_METADATA_VALUE_CHARS = 512;

/** UTF-8 needs at most 3 bytes a UTF-16 unit, so that short texts are not measured. */
const MAX_BYTES_PER_UNIT = 3;

export function checkTextSize(text: string, path: string): string {
  if (text.length * MAX_BYTES_PER_UNIT <= MAX_TEXT_BYTES) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_TEXT_BYTES) return text;
  const message = `${path} has ${bytes} bytes, at most ${MAX_TEXT_BYTES} are accepted`;
  throw invalidRequest("invalid_value", message, path);
}
