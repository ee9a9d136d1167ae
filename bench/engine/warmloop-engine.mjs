/** Our engine as child.mjs drives it: the addon itself, no pool, text or ports. */
import { openNativeEngine } from "../../dist/engine/native-engine.js";

const KV_MEMORY_BYTES = 256 * 2 ** 20;

export async function openWarmloop({ modelPath, threads }) {
  // Prompts repeat from one repetition to the next, and every one of them has to be computed.
  const options = { modelPath, threads, kvMemoryBytes: KV_MEMORY_BYTES, enablePrefixCache: false };
  const engine = await openNativeEngine(options);
  return {
    isa: engine.info.isa,
    /** All prompts at once, `outputTokens` greedy tokens each. Returns how many tokens came. */
    async generate({ prompts, outputTokens }) {
      const requests = prompts.map((prompt) =>
        engine.runTokens({ tokens: Int32Array.from(prompt), maxOutputTokens: outputTokens }),
      );
      const results = await Promise.all(requests);
      return results.reduce((sum, { tokens }) => sum + tokens.length, 0);
    },
    close: () => engine.close(),
  };
}
