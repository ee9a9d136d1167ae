/**
 * The schemas of real tools: each compiles or is refused with the reason; values that they validate are
 * taken token by token, and what ajv refuses never comes to an end.
 */
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { NativeGrammar, NativeTokenizer } from "../../src/native/addon-types.ts";
import { loadAddon } from "../../src/native/load-addon.ts";
import { cachedModel } from "../cached-model.ts";
import { seededRandom } from "../seeded-random.ts";
import { judgeOf } from "./judge.ts";
import { type RealTool, realTools } from "./real-tools.ts";
import { mutate, SchemaValues, spacedJson } from "./schema-values.ts";

const NUM_VALUES = 20;

/** What no grammar of ours can hold to, by tool. */
const REFUSED: Readonly<Record<string, RegExp>> = {};

/** The default model's vocabulary; a small one where that was not downloaded. */
function openTokenizer(): NativeTokenizer {
  const small = path.join(import.meta.dirname, "../golden/tokenizers/llama3-rope");
  return loadAddon().openTokenizer(cachedModel("smollm2-135m-instruct") ?? small);
}

function specOf({ name, inputSchema }: RealTool): string {
  return JSON.stringify({ json_schema: inputSchema, name });
}

/** undefined: every token was taken, whether or not the text may end there. */
function refusedToken(grammar: NativeGrammar, tokens: Int32Array) {
  const matcher = grammar.matcher();
  const at = tokens.findIndex((token) => !matcher.accept(token));
  return at < 0 ? { isComplete: matcher.isComplete() } : { at };
}

describe.skipIf(realTools.length === 0)("real tools (skipped: no WARMLOOP_TEST_DATA)", () => {
  const tokenizer = openTokenizer();
  const encode = (text: string) => tokenizer.encode(text, "text", false);

  test("each schema compiles or is refused with the reason", () => {
    const refusals = realTools.flatMap((tool) => {
      try {
        tokenizer.compileGrammar(specOf(tool));
        return [];
      } catch (error) {
        return [[tool.id, String(error)] as const];
      }
    });
    expect(refusals.filter(([id, reason]) => !REFUSED[id]?.test(reason))).toEqual([]);
    expect(refusals.map(([id]) => id)).toEqual(Object.keys(REFUSED));
  });

  const compiled = realTools.filter(({ id }) => REFUSED[id] === undefined);

  test("values that a schema validates are taken whole", { timeout: 300_000 }, () => {
    for (const [index, tool] of compiled.entries()) {
      const isValid = judgeOf(tool.inputSchema);
      const grammar = tokenizer.compileGrammar(specOf(tool));
      const values = new SchemaValues(tool.inputSchema, seededRandom(index));
      for (let i = 0; i < NUM_VALUES; i++) {
        const value = values.next();
        const text = spacedJson(value);
        expect(isValid(value), `the test's own value: ${tool.id}: ${text}`).toBe(true);
        expect(refusedToken(grammar, encode(text)), `${tool.id}: ${text}`).toEqual({
          isComplete: true,
        });
      }
    }
  });

  test("changed values that it does not validate never come to an end", {
    timeout: 300_000,
  }, () => {
    let numChanged = 0;
    for (const [index, tool] of compiled.entries()) {
      const isValid = judgeOf(tool.inputSchema);
      const grammar = tokenizer.compileGrammar(specOf(tool));
      const random = seededRandom(1000 + index);
      const values = new SchemaValues(tool.inputSchema, random);
      for (let i = 0; i < NUM_VALUES; i++) {
        const value = mutate(values.next(), random);
        if (isValid(value)) continue;
        numChanged++;
        const text = spacedJson(value);
        expect(refusedToken(grammar, encode(text)), `${tool.id}: ${text}`).not.toEqual({
          isComplete: true,
        });
      }
    }
    expect(numChanged).toBeGreaterThan(compiled.length * 5);
  });
});
