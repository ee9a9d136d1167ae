import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openNativeEngine } from "../../../src/engine/native-engine.ts";
import type { NativeGrammar } from "../../../src/native/addon-types.ts";
import { loadAddon } from "../../../src/native/load-addon.ts";
import { goldenModels } from "../../fixture-goldens.ts";

/** Byte-level tokens. */
const MODEL = goldenModels("qwen2")[0]?.unpack() as string;
const tokenizer = loadAddon().openTokenizer(MODEL);
const { vocabSize } = tokenizer.facts;

const grammarOf = (spec: unknown): NativeGrammar => tokenizer.compileGrammar(JSON.stringify(spec));
const idsOf = (text: string) => tokenizer.encode(text, "text", false);

function allowed(mask: Uint32Array): number[] {
  return Array.from({ length: mask.length * 32 }, (_, token) => token).filter(
    (token) => ((mask[token >> 5] as number) >>> (token & 31)) & 1,
  );
}

const WRONG = ["", "{", "[]", "5", '{"literal": 5}', '{"regex": "("}', '{"unheard_of": 1}'];

describe("a spec", () => {
  test.each(WRONG)("%j is refused when it is checked and when it is compiled", async (spec) => {
    const error = expect.objectContaining({
      code: "ERR_GRAMMAR",
      message: expect.stringMatching(/^ERR_GRAMMAR: ./),
    });
    expect(() => tokenizer.checkGrammar(spec)).toThrow(error);
    expect(() => tokenizer.compileGrammar(spec)).toThrow(error);
    await expect(tokenizer.compileGrammarAsync(spec)).rejects.toEqual(error);
  });

  test.each([[undefined], [5], [{}], [null]])("%j is no string", (spec) => {
    for (const call of [tokenizer.checkGrammar, tokenizer.compileGrammar]) {
      expect(() => call(spec as unknown as string)).toThrow(TypeError);
    }
    expect(() => tokenizer.compileGrammarAsync(spec as unknown as string)).toThrow(TypeError);
  });

  test("may be longer than a path", () => {
    const choice = Array.from({ length: 5000 }, (_, i) => ({ literal: `option number ${i}` }));
    const { matcher } = grammarOf({ choice });
    expect(matcher().isComplete()).toBe(false);
  });
});

describe("a matcher", () => {
  test("takes the tokens of a text and nothing else", async () => {
    const spec = JSON.stringify({ choice: [{ literal: "yes" }, { literal: "no" }] });
    for (const grammar of [
      tokenizer.compileGrammar(spec),
      await tokenizer.compileGrammarAsync(spec),
    ]) {
      const matcher = grammar.matcher();
      expect(matcher.isComplete()).toBe(false);
      for (const id of idsOf("no")) {
        expect(allowed(matcher.mask())).toContain(id);
        expect(matcher.accept(id)).toBe(true);
      }
      expect(matcher.isComplete()).toBe(true);
      expect(allowed(matcher.mask())).toEqual([]);
      expect(matcher.accept(idsOf("a")[0] as number)).toBe(false);
    }
  });

  test("names the token that is forced", () => {
    const text = "forced text";
    const matcher = grammarOf({ literal: text }).matcher();
    const ids: number[] = [];
    for (let id = matcher.forcedToken(); id !== undefined; id = matcher.forcedToken()) {
      expect(allowed(matcher.mask())).toEqual([id]);
      expect(matcher.accept(id)).toBe(true);
      ids.push(id);
    }
    expect(ids).toEqual([...idsOf(text)]);
    expect(matcher.isComplete()).toBe(true);
  });

  test("starts anew each time, and stands on its own", () => {
    const grammar = grammarOf({ literal: "ab" });
    const [first, second] = [grammar.matcher(), grammar.matcher()];
    for (const id of idsOf("ab")) first.accept(id);
    expect(first.isComplete()).toBe(true);
    expect(second.isComplete()).toBe(false);
  });

  test("refuses what is no token", () => {
    const matcher = grammarOf({ literal: "ab" }).matcher();
    for (const id of [vocabSize, 2 ** 31, 2 ** 32 - 1]) expect(matcher.accept(id)).toBe(false);
    for (const id of [-1, 0.5, Number.NaN, "1", undefined]) {
      expect(() => matcher.accept(id as number)).toThrow(TypeError);
    }
  });
});

describe("a request", () => {
  let engine: Awaited<ReturnType<typeof openNativeEngine>>;
  beforeAll(async () => {
    engine = await openNativeEngine({ modelPath: MODEL });
  });
  afterAll(() => engine.close());

  test("takes only a grammar that was compiled", () => {
    const grammar = grammarOf({ literal: "ab" });
    const notGrammars = [null, 5, "{}", {}, { ...grammar }, grammar.matcher(), tokenizer, []];
    for (const wrong of [...notGrammars, Object.create(grammar), new Proxy(grammar, {})]) {
      const request = { tokens: Int32Array.of(1), grammar: wrong as NativeGrammar };
      expect(() => engine.start(request)).toThrow(/grammar must be a grammar/);
    }
  });

  test("keeps its grammar when JavaScript drops it", async () => {
    const tokens = Int32Array.of(1, 20, 30);
    const { result } = engine.start({ tokens, grammar: grammarOf({ literal: "held" }) });
    expect([...(await result).tokens]).toEqual([...idsOf("held")]);
  });
});
