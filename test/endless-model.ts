/**
 * A tiny model whose turns end only when they are ended: for tests that abort, close or kill in
 * mid-stream, on machines where the test may be stopped for seconds while the engine computes.
 */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { TINY_MODEL } from "./fixture-models.ts";
import { editMetadata } from "./gguf-metadata.ts";

/** Attention over so many tokens takes an hour. Needs `ENDLESS_KV_BYTES`. */
export const ENDLESS_TOKENS = 200_000;
/** KV of the tiny model for more than ENDLESS_TOKENS; pages that are not written cost nothing. */
export const ENDLESS_KV_BYTES = 64 * 1024 * 1024;
/** `<|im_end|>`: its greedy continuations never choose it. */
const NEVER_SAMPLED_ID = 511;

/** Writes the tiny model with a long context and an end of generation that does not come. */
export function writeEndlessModel(): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "warmloop-endless-")), "endless.gguf");
  const long = editMetadata(readFileSync(TINY_MODEL), "llama.context_length", { value: 2 ** 20 });
  const endless = editMetadata(long, "tokenizer.ggml.eos_token_id", { value: NEVER_SAMPLED_ID });
  writeFileSync(file, endless);
  return file;
}
