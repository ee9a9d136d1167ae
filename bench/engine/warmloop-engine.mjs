/** Our engine as child.mjs drives it: the addon itself, no pool, text or ports. */
import { openNativeEngine } from "../../dist/engine/native-engine.js";
import { TokenGaps } from "./token-gaps.mjs";

const KV_MEMORY_BYTES = 2 ** 30;

export async function openWarmloop({ modelPath, threads, contextTokens, ...options }) {
  const gaps = new TokenGaps();
  const engine = await openNativeEngine(
    {
      modelPath,
      threads,
      activations: options.activations ?? "wide",
      maxContextTokens: contextTokens,
      maxBatchTokens: options.batchTokens ?? 512,
      kvMemoryBytes: options.kvMemoryBytes ?? KV_MEMORY_BYTES,
      // Prompts repeat from one repetition to the next, and every one of them has to be computed.
      enablePrefixCache: options.prefixCache ?? false,
    },
    (step) => gaps.observe(step, engine.stats().numSteps),
  );
  return new WarmloopEngine(engine, gaps);
}

class WarmloopEngine {
  #engine;
  #gaps;
  #kept = [];

  constructor(engine, gaps) {
    this.#engine = engine;
    this.#gaps = gaps;
  }

  /** All prompts at once, `outputTokens` greedy tokens each. Returns how many tokens came. */
  async generate({ prompts, outputTokens }) {
    return this.#countAll(prompts.map((prompt) => this.#start(prompt, outputTokens)));
  }

  /** Computes the prompts and holds them as the sequences that the methods below go on from. */
  async keep({ prompts }) {
    for (const sequence of this.#kept) this.#engine.release(sequence);
    const options = { maxOutputTokens: 0, prefillOnly: true, keepSequence: true };
    const requests = prompts.map((prompt) =>
      this.#engine.runTokens({ tokens: Int32Array.from(prompt), ...options }),
    );
    this.#kept = (await Promise.all(requests)).map(({ sequenceId }) => sequenceId);
  }

  /** As `generate`, one more token and then `outputTokens` behind every kept sequence. */
  async decode({ token, outputTokens }) {
    const request = { tokens: Int32Array.of(token), maxOutputTokens: outputTokens };
    return this.#countAll(
      this.#kept.map((sequence) =>
        this.#engine.continueTokens(this.#engine.fork(sequence), request),
      ),
    );
  }

  /** `passes` one after another, each over `width` tokens with the logits of all of them. */
  async verify({ token, width, passes }) {
    const request = { tokens: new Int32Array(width).fill(token), logits: "all" };
    const options = { maxOutputTokens: 0, prefillOnly: true, keepSequence: true };
    const sequence = this.#engine.fork(this.#kept[0]);
    for (let i = 0; i < passes; i++) {
      await this.#engine.continueTokens(sequence, { ...request, ...options });
    }
    this.#engine.release(sequence);
    return width * passes;
  }

  /** As `generate`, but returns how many prompt tokens were computed rather than found in the cache. */
  async countComputed({ prompts }) {
    const before = this.#engine.stats().prefillTokens;
    await this.generate({ prompts, outputTokens: 1 });
    return this.#engine.stats().prefillTokens - before;
  }

  /**
   * Long prompts and short chats, all at once: the gaps between the tokens of a chat, in milliseconds
   * and in engine steps.
   */
  async measureGaps({ prompts, chats, outputTokens }) {
    const chatRequests = chats.map((chat) => ({
      tokens: Int32Array.from(chat),
      maxOutputTokens: outputTokens,
    }));
    const running = chatRequests.map((request) => this.#engine.start(request));
    this.#gaps.watch(running.map(({ id }) => id));
    const long = prompts.map((prompt) => this.#start(prompt, 1));
    await Promise.all([...long, ...running.map(({ result }) => result)]);
    return this.#gaps.take();
  }

  close() {
    return this.#engine.close();
  }

  #start(prompt, maxOutputTokens) {
    return this.#engine.runTokens({ tokens: Int32Array.from(prompt), maxOutputTokens });
  }

  async #countAll(requests) {
    const results = await Promise.all(requests);
    return results.reduce((sum, { tokens }) => sum + tokens.length, 0);
  }
}
