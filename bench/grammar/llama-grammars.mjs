/**
 * node-llama-cpp's grammars as masks.mjs measures them. It has no call that fills a mask: it samples
 * freely first, and only when that token does not match does it test every token of the vocabulary
 * and sample again. So a bias makes the first choice a byte that no JSON text has, and the mask is
 * what sampling with the grammar takes beyond two samplings without it. The logits are of one
 * position, which no mask depends on. What is called here are internals of the version that
 * peer-engine.mjs installs.
 */
import { performance } from "node:perf_hooks";
import { loadPeer } from "../engine/peer-engine.mjs";

const NO_JSON = "\u0001";
const BIAS = 1e6;

export class LlamaGrammars {
  #library;
  #llama;
  #model;
  #context;
  #logitIndex;

  /** With logits to sample from. */
  static async open(modelPath) {
    const grammars = new LlamaGrammars();
    await grammars.#load(modelPath);
    return grammars;
  }

  async #load(modelPath) {
    const { library, llama, model } = await loadPeer(modelPath);
    [this.#library, this.#llama, this.#model] = [library, llama, model];
    this.#context = await model.createContext({ threads: 1, contextSize: 64, batchSize: 64 });
    const context = this.#context._ctx;
    context.initBatch(1);
    const tokens = Uint32Array.from(model.tokenize(NO_JSON).slice(0, 1));
    [this.#logitIndex] = context.addToBatch(0, 0, tokens, Uint32Array.of(0));
    await context.decodeBatch();
  }

  /** @returns matchers; undefined: not supported */
  async compile({ inputSchema }) {
    try {
      const grammar = await this.#llama.createGrammarForJsonSchema(inputSchema);
      // The text of the grammar is read again for every answer.
      const start = this.#stateOf({ model: this.#model, grammar });
      return () => this.#matcher(this.#stateOf(start));
    } catch {
      return undefined;
    }
  }

  #stateOf(source) {
    return new this.#library.LlamaGrammarEvaluationState(source);
  }

  #matcher(state) {
    const { AddonSampler } = this.#llama._bindings;
    const accept = (token) => {
      if (!AddonSampler.canBeNextTokenForGrammarEvaluationState(state._state, token)) return false;
      AddonSampler.acceptGrammarEvaluationStateToken(state._state, token);
      return true;
    };
    return { accept, maskMs: () => this.#maskMs(state) };
  }

  async #maskMs(state) {
    const free = await this.#sampleMs({});
    // Sampling moves the state on.
    return (
      (await this.#sampleMs({ grammarEvaluationState: this.#stateOf(state)._state })) - 2 * free
    );
  }

  async #sampleMs(held) {
    const sampler = new this.#llama._bindings.AddonSampler(this.#model._model);
    const [token] = this.#model.tokenize(NO_JSON);
    sampler.applyConfig({
      temperature: 0,
      tokenBiasKeys: Uint32Array.of(token),
      tokenBiasValues: Float32Array.of(BIAS),
      ...held,
    });
    const start = performance.now();
    await this.#context._ctx.sampleToken(this.#logitIndex, sampler);
    const ms = performance.now() - start;
    sampler.dispose();
    return ms;
  }

  async close() {
    for (const part of [this.#context, this.#model, this.#llama]) await part.dispose();
  }
}
