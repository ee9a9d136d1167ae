/**
 * A tiny model whose turns end only when they are ended: for tests that abort, close or kill in
 * mid-stream, on machines where the test may be stopped for seconds while the engine computes. All that
 * it samples, at any temperature, is whole characters.
 */
import { isUtf8 } from "node:buffer";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { loadAddon } from "../src/native/load-addon.ts";
import type { TokenizerFacts } from "../src/native/addon-types.ts";
import { TINY_MODEL } from "./fixture-models.ts";
import { editMetadata, tensorBytes } from "./gguf-metadata.ts";

/** Attention over so many tokens takes an hour. Needs `ENDLESS_KV_BYTES`. */
export const ENDLESS_TOKENS = 200_000;
/** KV of the tiny model for more than ENDLESS_TOKENS; pages that are not written cost nothing. */
export const ENDLESS_KV_BYTES = 64 * 1024 * 1024;
/** Makes the best of the other logits about 80, so that one of 0 has a probability of e^-80. */
const LOGIT_SCALE = 8;

/** Writes the tiny model with a long context, and logits of 0 for all that is not text. */
export function writeEndlessModel(): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "warmloop-endless-")), "endless.gguf");
  const model = editMetadata(readFileSync(TINY_MODEL), "llama.context_length", { value: 2 ** 20 });
  const { hidden, vocab } = loadAddon().inspectModel(TINY_MODEL);
  const norm = tensorBytes(model, "output_norm.weight"); // f32 [hidden]
  for (let at = 0; at < hidden * 4; at += 4) {
    norm.writeFloatLE(norm.readFloatLE(at) * LOGIT_SCALE, at);
  }
  const head = tensorBytes(model, "output.weight"); // f16 [vocab, hidden]
  const { facts } = loadAddon().openTokenizer(TINY_MODEL);
  for (let id = 0; id < vocab; id++) {
    if (!isText(facts, id)) head.fill(0, id * hidden * 2, (id + 1) * hidden * 2);
  }
  writeFileSync(file, model);
  return file;
}

function isText({ bytes, byteStarts, controlTokens }: TokenizerFacts, id: number): boolean {
  const text = Buffer.from(bytes.subarray(byteStarts[id], byteStarts[id + 1]));
  return text.length > 0 && isUtf8(text) && !controlTokens.some((token) => token.id === id);
}
