/** The least that the KV cache of a model on this disk may have. */
import type { EngineConfig } from "../config/engine-config.ts";
import { loadAddon } from "../native/load-addon.ts";

/** Less is too little for an agent's prompt. */
const SHORT_CONTEXT_TOKENS = 1024;

/**
 * KV bytes of an engine that takes sequences of --ctx tokens, without it short ones.
 * @param modelContext the longest sequence that the model takes
 * @throws {EngineError} ERR_MODEL_*, ERR_INVALID_ARGUMENT for a --ctx that the model does not take
 */
export function leastKvBytes(
  modelPath: string,
  modelContext: number,
  { kvType, maxBatchTokens, maxContextTokens }: EngineConfig,
): number {
  return loadAddon().minKvBytes({
    modelPath,
    kvType,
    maxBatchTokens,
    maxContextTokens: maxContextTokens ?? Math.min(SHORT_CONTEXT_TOKENS, modelContext),
  });
}
