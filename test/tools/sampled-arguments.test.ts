/**
 * Arguments that the default model writes for real tools at temperature 1.5, judged by ajv. CI samples
 * some tools once; WARMLOOP_TEST_SAMPLES=20 samples every tool as often.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DirectEngine, openNativeEngine } from "../../src/engine/native-engine.ts";
import { loadAddon } from "../../src/native/load-addon.ts";
import { cachedModel } from "../cached-model.ts";
import { judgeOf } from "./judge.ts";
import { type RealTool, realTools } from "./real-tools.ts";

const numSamples = Number(process.env.WARMLOOP_TEST_SAMPLES ?? 0);
const EVERY = numSamples > 0 ? 1 : 29;
const MAX_TOKENS = 128;
const CONCURRENT = 16;

const model = cachedModel("smollm2-135m-instruct");
const canRun = model !== undefined && realTools.length > 0;

interface Sample {
  readonly tool: RealTool;
  readonly text: string;
  readonly isCut: boolean;
}

describe.skipIf(!canRun)("sampled arguments (skipped: no WARMLOOP_TEST_DATA or no model)", () => {
  const tokenizer = canRun ? loadAddon().openTokenizer(model ?? "") : undefined;
  const decoder = new TextDecoder();
  let engine: DirectEngine;
  beforeAll(async () => {
    engine = await openNativeEngine({ modelPath: model ?? "", maxContextTokens: 2048 });
  });
  afterAll(() => engine.close());

  function textOf(tokens: Int32Array): string {
    const { bytes, byteStarts } = tokenizer?.facts ?? { bytes: [], byteStarts: [] };
    const parts = [...tokens].flatMap((id) => [...bytes.slice(byteStarts[id], byteStarts[id + 1])]);
    return decoder.decode(Uint8Array.from(parts));
  }

  async function sample(tool: RealTool, seed: number): Promise<Sample> {
    const { name, description, inputSchema } = tool;
    const prompt = `<|im_start|>user\nCall the tool ${name}: ${description.slice(0, 400)}<|im_end|>\n<|im_start|>assistant\n`;
    const { tokens, finish } = await engine.runTokens({
      tokens: tokenizer?.encode(prompt, "parsed", true) ?? new Int32Array(),
      temperature: 1.5,
      seed,
      maxOutputTokens: MAX_TOKENS,
      stopTokenIds: tokenizer?.facts.endIds ?? new Int32Array(),
      ...(tokenizer && {
        grammar: tokenizer.compileGrammar(JSON.stringify({ json_schema: inputSchema, name })),
      }),
    });
    return { tool, text: textOf(tokens), isCut: finish === "length" };
  }

  test("every finished one is valid, every cut one is the beginning of a JSON object", async () => {
    const jobs = realTools
      .filter((_, index) => index % EVERY === 0)
      .flatMap((tool) =>
        Array.from({ length: Math.max(numSamples, 1) }, (_, seed) => ({ tool, seed })),
      );
    const samples: Sample[] = [];
    const worker = async () => {
      for (let job = jobs.pop(); job; job = jobs.pop()) {
        samples.push(await sample(job.tool, job.seed));
      }
    };
    const numJobs = jobs.length;
    await Promise.all(Array.from({ length: CONCURRENT }, worker));
    expect(samples).toHaveLength(numJobs);
    const judges = new Map(realTools.map(({ id, inputSchema }) => [id, judgeOf(inputSchema)]));
    const finished = samples.filter(({ isCut }) => !isCut);
    const wrong = finished.filter(({ tool, text }) => !judges.get(tool.id)?.(JSON.parse(text)));
    expect(wrong.map(({ tool, text }) => `${tool.id}: ${text}`)).toEqual([]);
    const cut = samples.filter(({ isCut }) => isCut);
    expect(cut.filter(({ text }) => !text.startsWith("{"))).toEqual([]);
    console.log(`${finished.length} of ${numJobs} finished and are valid, ${cut.length} were cut`);
  }, 7_200_000);
});
