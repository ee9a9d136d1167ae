/**
 * Arguments that the default model writes for real tools at temperature 1.5, judged by ajv: one of every
 * 29th tool here, 20 of each tool in `npm run check:tools`.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cachedModel } from "../cached-model.ts";
import { type ArgumentSample, ArgumentSampler } from "./argument-sampler.ts";
import { isJsonPrefix, wholeMembers } from "./json-prefix.ts";
import { judgeOf, prefixJudgeOf } from "./judge.ts";
import { realTools } from "./real-tools.ts";

const EVERY = 29;
const model = cachedModel("smollm2-135m-instruct");
const canRun = model !== undefined && realTools.length > 0;

describe.skipIf(!canRun)("sampled arguments (skipped: no WARMLOOP_TEST_DATA or no model)", () => {
  let sampler: ArgumentSampler;
  beforeAll(async () => {
    sampler = await ArgumentSampler.open({ modelPath: model ?? "", maxTokens: 128 });
  });
  afterAll(() => sampler.close());

  test("every finished one is valid, every cut one begins a valid object", async () => {
    const tools = realTools.filter((_, index) => index % EVERY === 0);
    const samples = await Promise.all(tools.map((tool) => sampler.sample(tool, 0)));
    const wrong = samples.filter((sample, index) => {
      const schema = tools[index]?.inputSchema ?? {};
      return !(sample.isCut ? prefixJudgeOf(schema)(sample.text) : isValid(schema, sample));
    });
    expect(wrong).toEqual([]);
    const numCut = samples.filter(({ isCut }) => isCut).length;
    console.log(`${samples.length - numCut} of ${samples.length} finished, ${numCut} were cut`);
  }, 7_200_000);

  const isValid = (schema: Readonly<Record<string, unknown>>, { text }: ArgumentSample) =>
    judgeOf(schema)(JSON.parse(text));
});

describe("the judge of cut texts", () => {
  test.each(["{", '{"a', '{"a"', '{"a":', '{"a":1', '{"a":1.', '{"a":tr', '{"a":nul', '{"a":1,'])(
    "%s begins an object",
    (text) => expect(isJsonPrefix(text)).toBe(true),
  );

  test.each(['{"a":"x\\', '{"a":"\\u12', '{"a":"\\\\', '{"a":["b",', '{"a":{"b":[1,{"c":"'])(
    "%s begins an object",
    (text) => expect(isJsonPrefix(text)).toBe(true),
  );

  test.each(["{,", '{"a":x', '{"a":1,,', '{"a" 1', '{"a":1]', '{"a":"\\x'])(
    "%s begins none",
    (text) => expect(isJsonPrefix(text)).toBe(false),
  );

  test("members that are whole are judged, what may still come is not missed", () => {
    const judge = prefixJudgeOf({
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "string" } },
      required: ["a", "b"],
      additionalProperties: false,
    });
    expect(wholeMembers('{"a": 1, "b": "x')).toEqual({ a: 1 });
    expect(judge('{"a": 1, "b": "x')).toBe(true);
    expect(judge('{"a": "1", "b": "x')).toBe(false);
    expect(judge('{"c": 1, "b": "x')).toBe(false);
  });
});
