/** Draws arguments for real tools from a model at temperature 1.5, each under the tool's own schema. */
import { type DirectEngine, openNativeEngine } from "../../src/engine/native-engine.ts";
import { objectSchema } from "../../src/text/output/call-grammar.ts";
import { loadAddon } from "../../src/native/load-addon.ts";
import type { RealTool } from "./real-tools.ts";

export interface ArgumentSample {
  readonly toolId: string;
  readonly seed: number;
  readonly text: string;
  /** The token cap came before the end. */
  readonly isCut: boolean;
}

export interface SamplerOptions {
  readonly modelPath: string;
  readonly maxTokens: number;
  readonly threads?: number;
  /** "8" draws about twice as fast; what the grammar allows is the same. */
  readonly activations?: "wide" | "8";
}

const MAX_DESCRIPTION_CHARS = 400;

export class ArgumentSampler {
  readonly #engine: DirectEngine;
  readonly #tokenizer: ReturnType<ReturnType<typeof loadAddon>["openTokenizer"]>;
  readonly #maxTokens: number;

  private constructor(engine: DirectEngine, { modelPath, maxTokens }: SamplerOptions) {
    this.#engine = engine;
    this.#tokenizer = loadAddon().openTokenizer(modelPath);
    this.#maxTokens = maxTokens;
  }

  static async open(options: SamplerOptions): Promise<ArgumentSampler> {
    const { modelPath, threads, activations } = options;
    const engine = await openNativeEngine({
      modelPath,
      maxContextTokens: 2048,
      ...(threads !== undefined && { threads }),
      ...(activations !== undefined && { activations }),
    });
    return new ArgumentSampler(engine, options);
  }

  /** Several at once share the steps of the engine. */
  async sample({ id, name, description, inputSchema }: RealTool, seed: number) {
    const asked = `Call the tool ${name}: ${description.slice(0, MAX_DESCRIPTION_CHARS)}`;
    const prompt = `<|im_start|>user\n${asked}<|im_end|>\n<|im_start|>assistant\n`;
    const { tokens, finish } = await this.#engine.runTokens({
      tokens: this.#tokenizer.encode(prompt, "parsed", true),
      temperature: 1.5,
      seed,
      maxOutputTokens: this.#maxTokens,
      stopTokenIds: this.#tokenizer.facts.endIds,
      grammar: this.#tokenizer.compileGrammar(
        JSON.stringify({ json_schema: objectSchema(inputSchema), name }),
      ),
    });
    const sample: ArgumentSample = {
      toolId: id,
      seed,
      text: this.#textOf(tokens),
      isCut: finish === "length",
    };
    return sample;
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  #textOf(tokens: Int32Array): string {
    const { bytes, byteStarts } = this.#tokenizer.facts;
    const parts = [...tokens].map((id) => bytes.subarray(byteStarts[id], byteStarts[id + 1]));
    return Buffer.concat(parts).toString();
  }
}
