/**
 * Output held to a grammar, on tiny models of random weights: it validates, and jumping over what is
 * forced gives the tokens that sampling gives.
 */
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type DirectEngine,
  openNativeEngine,
  type TokensRequest,
  type TokensResult,
} from "../../src/engine/native-engine.ts";
import type { NativeTokenizer } from "../../src/native/addon-types.ts";
import { loadAddon } from "../../src/native/load-addon.ts";
import { goldenModel } from "../fixture-goldens.ts";

const SCHEMA = {
  type: "object",
  properties: {
    city: { type: "string", maxLength: 12 },
    units: { enum: ["celsius", "fahrenheit", null] },
    days: { type: "array", items: { type: "integer", minimum: 0, maximum: 400 }, maxItems: 3 },
    hourly: { type: "boolean" },
  },
  required: ["city", "units", "days", "hourly"],
  additionalProperties: false,
};
const isValid = new Ajv({ strict: true, allowUnionTypes: true }).compile(SCHEMA);
const SPEC = JSON.stringify({ json_schema: SCHEMA, name: "get_weather" });

/** Both kinds of vocabulary, full and sliding attention. */
const CASES = [
  ["llama-spm", "F16"],
  ["llama3-rope", "Q8_0"],
  ["qwen2", "Q4_1"],
  ["gemma3", "Q8_0"],
] as const;

const SAMPLINGS = [
  { temperature: 0 },
  { temperature: 1.5, seed: 1 },
  { temperature: 1.5, seed: 2, topK: 20 },
  { temperature: 1, seed: 3, topP: 0.9, presencePenalty: 0.4 },
  { temperature: 1.5, seed: 4, repetitionPenalty: 1.1 },
] as const;

describe.each(CASES)("%s.%s", (model, variant) => {
  const golden = goldenModel(model, variant);
  if (golden === undefined) {
    test.skip("its fixture is not there", () => undefined);
    return;
  }
  let engine: DirectEngine;
  let tokenizer: NativeTokenizer;
  beforeAll(async () => {
    const modelPath = golden.unpack();
    tokenizer = loadAddon().openTokenizer(modelPath);
    // Few blocks, so that some of a crowd are preempted.
    engine = await openNativeEngine({ modelPath, kvMemoryBytes: 2 * 1024 * 1024 });
  });
  afterAll(() => engine.close());

  const requests = (): TokensRequest[] =>
    SAMPLINGS.map((sampling, i) => ({
      tokens: Int32Array.from({ length: 20 + i }, (_, at) => 5 + ((at * 31 + i) % 300)),
      ...sampling,
      maxOutputTokens: 250,
      stopTokenIds: tokenizer.facts.endIds,
      grammar: tokenizer.compileGrammar(SPEC),
    }));

  function textOf({ tokens }: TokensResult): string {
    const { bytes, byteStarts } = tokenizer.facts;
    const parts = [...tokens].map((id) => bytes.subarray(byteStarts[id], byteStarts[id + 1]));
    return Buffer.concat(parts).toString();
  }

  test("every output validates, and ends by itself", async () => {
    for (const request of requests()) {
      const result = await engine.runTokens(request);
      expect(result.finish).toBe("stop");
      const value: unknown = JSON.parse(textOf(result));
      expect(isValid(value), textOf(result)).toBe(true);
    }
  });

  test("jumping = sampling each token, alone and in a crowd", async () => {
    const sampled: number[][] = [];
    for (const request of requests()) {
      const result = await engine.runTokens({ ...request, jumpForward: false });
      sampled.push([...result.tokens]);
    }
    const before = engine.stats();
    const crowd = await Promise.all(requests().map((request) => engine.runTokens(request)));
    expect(crowd.map(({ tokens }) => [...tokens])).toEqual(sampled);
    const numForced = engine.stats().forcedTokens - before.forcedTokens;
    expect(numForced).toBeGreaterThan(5 * SAMPLINGS.length);
  });

  test("a turn behind forced tokens finds all but the last computed, and says the same", async () => {
    const [request] = requests() as [TokensRequest];
    const stopTokenIds = tokenizer.facts.endIds;
    const grammar = tokenizer.compileGrammar(
      JSON.stringify({ literal: "It is forced to the end." }),
    );
    const first = await engine.runTokens({ ...request, grammar, keepSequence: true });
    const said = [...request.tokens, ...first.tokens];
    expect(first.tokens.length).toBeGreaterThan(3);

    const more = { tokens: Int32Array.of(9, 8, 7), maxOutputTokens: 12, stopTokenIds };
    const continued = await engine.continueTokens(first.sequenceId, more);
    expect(continued.cachedTokens).toBe(said.length - 1);
    const whole = Int32Array.from([...said, ...more.tokens]);
    expect([...continued.tokens]).toEqual([
      ...(await engine.runTokens({ ...more, tokens: whole })).tokens,
    ]);
  });

  test("a cap leaves the start of a valid text", async () => {
    const [request] = requests() as [TokensRequest];
    const whole = await engine.runTokens(request);
    const cut = await engine.runTokens({ ...request, maxOutputTokens: 9 });
    expect(cut.finish).toBe("length");
    expect([...cut.tokens]).toEqual([...whole.tokens.subarray(0, 9)]);
  });
});
