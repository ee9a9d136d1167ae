/**
 * The rule above speed: a greedy request gives the same logits, bit for bit, whatever ran beside it,
 * however its prompt was cut, wherever its KV came from, on each instruction-set level of this machine
 * and at one and two threads. Every level is compared with one baseline: the scalar reference, alone.
 */
import { beforeAll, describe, expect, test } from "vitest";
import {
  type DirectEngine,
  openNativeEngine,
  type TokensResult,
} from "../../src/engine/native-engine.ts";
import type { EngineOptions, IsaLevel } from "../../src/native/addon-types.ts";
import { loadAddon } from "../../src/native/load-addon.ts";
import { goldenModel } from "../fixture-goldens.ts";

const PROMPT_TOKENS = 150;
const OUTPUT_TOKENS = 20;
const LEVELS = loadAddon().probeDevices()[0]?.isaLevels ?? [];
const NO_CACHE = { enablePrefixCache: false };

/** Every architecture, the three KV types, and the weight types that share little code. */
const CASES = [
  ["llama-k", "Q4_K_M", "f16"],
  ["llama-k", "Q3_K_M", "f16"],
  ["llama-k", "IQ4_XS", "f16"],
  ["llama-spm", "F32", "f32"],
  ["llama3-rope", "Q8_0", "f16"],
  ["llama3-rope", "Q8_0", "q8_0"],
  ["llama3-rope", "Q8_0", "f32"],
  ["mistral-swa", "hf", "f16"],
  ["qwen2", "Q4_1", "f16"],
  ["qwen2", "Q5_0", "q8_0"],
  ["qwen3", "F16", "f16"],
  ["qwen3-moe", "Q8_0", "f16"],
  ["gemma3", "Q8_0", "f16"],
  ["gemma3", "Q8_0", "q8_0"],
  ["phi3-longrope", "Q8_0", "f16"],
  ["gpt-oss", "MXFP4", "f16"],
  ["gpt-oss", "MXFP4", "q8_0"],
  ["gpt-oss", "MXFP4", "f32"],
  ["smollm3", "F16", "f16"],
  ["olmo2", "Q8_0", "f16"],
  ["granite", "F16", "f16"],
] as const;
/** Two sequences for which the KV blocks do not suffice: the younger one loses its own. */
interface Crowd {
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly numBlocks: number;
}
/** Both prompts fit, and one block more; their outputs need two. */
const CROWD: Crowd = {
  promptTokens: PROMPT_TOKENS,
  outputTokens: OUTPUT_TOKENS,
  numBlocks: 2 * Math.ceil(PROMPT_TOKENS / 16) + 1,
};
/**
 * For windows of 32 tokens in every layer: whoever is admitted with a whole window needs no more than
 * its 3 blocks ever. Prompts below a block are, with 5 blocks for both, and grow until one has to go.
 */
const CROWD_OF_WINDOWS: Crowd = { promptTokens: 10, outputTokens: 60, numBlocks: 5 };

/** Token ids without a pattern; the same for a seed. */
function promptOf(seed: number, length = PROMPT_TOKENS): Int32Array {
  return Int32Array.from({ length }, (_, i) => (i * 7919 + seed * 104729 + ((i * i) % 31)) % 380);
}

const request = (tokens: Int32Array, maxOutputTokens = OUTPUT_TOKENS) =>
  ({
    tokens,
    maxOutputTokens,
    logits: "sampled",
    logprobs: { numTop: 2, ofPrompt: false },
  }) as const;

/** Tokens, their log probabilities and the raw bits of every sampled row. */
function bitsOf(result: TokensResult) {
  const { buffer, byteOffset, byteLength } = result.logits;
  return {
    tokens: [...result.tokens],
    logprobs: [result.logprobTokens, result.logprobs],
    bits: Buffer.from(buffer, byteOffset, byteLength),
  };
}

function expectSame(result: TokensResult, baseline: TokensResult): void {
  const [got, want] = [bitsOf(result), bitsOf(baseline)];
  expect(got.tokens).toEqual(want.tokens);
  expect(got.logprobs).toEqual(want.logprobs);
  expect(got.bits.equals(want.bits), "logits are the same bits").toBe(true);
}

for (const [model, variant, kvType] of CASES) {
  const golden = goldenModel(model, variant);
  describe.skipIf(golden === undefined)(`${model} ${variant}, ${kvType} KV`, () => {
    let modelPath = "";
    let baseline: TokensResult;
    let crowdBaseline: TokensResult;
    const crowd = model === "mistral-swa" ? CROWD_OF_WINDOWS : CROWD;
    const crowded = (seed: number) =>
      request(promptOf(seed, crowd.promptTokens), crowd.outputTokens);
    const open = (options: Partial<EngineOptions>): Promise<DirectEngine> =>
      openNativeEngine({ modelPath, kvType, ...options });

    beforeAll(async () => {
      modelPath = golden?.unpack() ?? "";
      const engine = await open({ isa: "ref", ...NO_CACHE });
      baseline = await engine.runTokens(request(promptOf(1)));
      crowdBaseline = crowd === CROWD ? baseline : await engine.runTokens(crowded(1));
      await engine.close();
      expect(baseline.logits.length).toBe(OUTPUT_TOKENS * engine.info.vocab);
    });

    const machines = LEVELS.flatMap((isa: IsaLevel) => [
      { isa, threads: 1 },
      { isa, threads: 2 },
    ]);
    describe.each(machines)("$isa, $threads thread(s)", (machine) => {
      test("alone, then batched with seven others", async () => {
        const engine = await open({ ...machine, ...NO_CACHE });
        expectSame(await engine.runTokens(request(promptOf(1))), baseline);
        const others = [2, 3, 4, 5].map((s) => engine.start(request(promptOf(s, 40 + 17 * s))));
        const mine = engine.start(request(promptOf(1)));
        const later = [6, 7, 8].map((s) => engine.start(request(promptOf(s, 9 * s))));
        expectSame(await mine.result, baseline);
        await Promise.all([...others, ...later].map((other) => other.result));
        await engine.close();
      });

      // How threads share the rows of a chunk is tested with a large one.
      test.each(machine.threads === 1 ? [1, 7, 64] : [64])(
        "prefilled in chunks of %i",
        async (maxPrefillChunk) => {
          const engine = await open({ ...machine, ...NO_CACHE, maxPrefillChunk });
          expectSame(await engine.runTokens(request(promptOf(1))), baseline);
          await engine.close();
        },
      );

      test("from cached KV", async () => {
        const engine = await open(machine);
        await engine.runTokens({ tokens: promptOf(1).slice(0, 100), maxOutputTokens: 1 });
        const cached = await engine.runTokens(request(promptOf(1)));
        expect(cached.cachedTokens).toBe(96); // whole blocks of 16 of the first 100 tokens
        expectSame(cached, baseline);
        await engine.close();
      });

      test("continued from a live sequence, and from a fork of it", async () => {
        const engine = await open({ ...machine, ...NO_CACHE });
        const head = promptOf(1).slice(0, 77);
        const warm = { tokens: head, prefillOnly: true, keepSequence: true, maxOutputTokens: 0 };
        const { sequenceId } = await engine.runTokens(warm);
        const fork = engine.fork(sequenceId);
        const tail = request(promptOf(1).slice(77));
        const continued = await engine.continueTokens(sequenceId, tail);
        expect(continued.cachedTokens).toBe(77);
        expectSame(continued, baseline);
        expectSame(await engine.continueTokens(fork, tail), baseline);
        await engine.close();
      });

      test("after preemption", async () => {
        const engine = await openWithBlocks(
          (options) => open({ ...machine, ...options }),
          crowd.numBlocks,
        );
        // The engine thread may be through with the first before this one submits the second.
        while (engine.stats().numPreemptions === 0) {
          const first = engine.start(crowded(2));
          const mine = engine.start(crowded(1));
          expectSame(await mine.result, crowdBaseline);
          await first.result;
        }
        await engine.close();
      });
    });
  });
}

/** An engine whose KV memory holds exactly that many blocks of the layers that see most. */
async function openWithBlocks(
  open: (options: Partial<EngineOptions>) => Promise<DirectEngine>,
  numBlocks: number,
): Promise<DirectEngine> {
  const options = { ...NO_CACHE, maxRunning: 2 };
  for (let [tooLittle, enough] = [0, 64 << 20]; ; ) {
    const kvMemoryBytes = (tooLittle + enough) / 2;
    const engine = await open({ ...options, kvMemoryBytes }).catch(() => undefined);
    if (engine?.info.numKvBlocks === numBlocks) return engine;
    const isTooMuch = engine !== undefined && engine.info.numKvBlocks > numBlocks;
    [tooLittle, enough] = isTooMuch ? [tooLittle, kvMemoryBytes] : [kvMemoryBytes, enough];
    await engine?.close();
    if (enough - tooLittle < 1) throw new Error(`no KV memory makes ${numBlocks} blocks`);
  }
}
