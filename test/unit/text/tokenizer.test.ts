import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../../src/config/load-config.ts";
import { loadTextModel } from "../../../src/text/load-text-model.ts";
import type { TextModel } from "../../../src/text/text-types.ts";
import { testDataFolder } from "../../fixture-models.ts";
import { inspectFile, loadGguf, loadGgufOf } from "./inspections.ts";
import {
  FIXTURES,
  fixtureModels,
  GOLDEN,
  goldenModel,
  loadFixtureGguf,
  loadFolder,
  readJson,
  textOf,
} from "./text-fixtures.ts";

interface GoldenCase {
  readonly text: string;
  readonly ids: readonly number[];
  readonly ids_with_special?: readonly number[];
  readonly decoded: string;
}

const ENCODE = { parseSpecial: true, addBos: false };

function expectGolden(model: TextModel, file: string): void {
  const { cases } = readJson(file) as { readonly cases: readonly GoldenCase[] };
  const { tokenizer } = model;
  for (const { text, ids, ids_with_special: withSpecial } of cases) {
    expect([...tokenizer.encodePlain(text, ENCODE)], text).toEqual(ids);
    // HF adds BOS even where the text has it; here there is never a second one.
    const withBos = ids[0] === tokenizer.bosId ? ids : (withSpecial ?? ids);
    expect([...tokenizer.encodePlain(text, { ...ENCODE, addBos: true })], text).toEqual(withBos);
  }
}

function expectDecodes(model: TextModel, file: string): void {
  const { cases } = readJson(file) as { readonly cases: readonly GoldenCase[] };
  for (const { ids, decoded } of cases) {
    const isText = (id: number): boolean =>
      !model.tokenizer.eogIds.has(id) && model.tokenizer.tokenBytes(id).length > 0;
    if (!ids.every(isText)) continue; // the golden text shows control tokens
    const decoder = model.createOutputDecoder({ stop: [] });
    const events = [...decoder.push(Int32Array.from(ids)), ...decoder.finish()];
    expect(textOf(events)).toBe(decoded);
  }
}

describe("tokenizer.json", () => {
  test.each(["llama-spm", "llama3-rope", "qwen2"] as const)("%s gives the ids of HF", (name) => {
    expectGolden(goldenModel(name), path.join(GOLDEN, "tokenizers", name, "golden.json"));
  });

  test.each(["llama-spm", "llama3-rope", "qwen2"] as const)("%s decodes like HF", (name) => {
    expectDecodes(goldenModel(name), path.join(GOLDEN, "tokenizers", name, "golden.json"));
  });

  test.skipIf(!FIXTURES).each(fixtureModels())("fixture %s gives the ids of HF", (name) => {
    const folder = path.join(FIXTURES ?? "", "models", name);
    expectGolden(loadFolder(path.join(folder, "hf")), path.join(folder, "golden/tokenizer.json"));
  });
});

describe("GGUF metadata", () => {
  test.skipIf(!FIXTURES).each(fixtureModels())("fixture %s gives the ids of HF", (name) => {
    const golden = path.join(FIXTURES ?? "", "models", name, "golden/tokenizer.json");
    expectGolden(loadFixtureGguf(name), golden);
    expectDecodes(loadFixtureGguf(name), golden);
  });

  const vocabularies = path.join(testDataFolder ?? "", "templates/tokenizers");

  test.skipIf(!FIXTURES).each(["qwen2", "gpt-2", "phi-3"])("the real %s vocabulary", (name) => {
    const file = path.join(vocabularies, `ggml-vocab-${name}.gguf`);
    const { tokenizer } = loadGguf(`${file}.gz`);
    const texts = readFileSync(`${file}.inp`, "utf8").split("\n__ggml_vocab_test__\n");
    const lines = readFileSync(`${file}.out`, "utf8").split("\n");
    const expected = lines.slice(0, texts.length);
    const encode = (text: string): string =>
      tokenizer.encodePlain(text, { parseSpecial: false, addBos: false }).join(" ");
    expect(texts.map(encode)).toEqual(expected.map((line) => line.trim()));
  });

  test("a pre-tokenizer that is not known is refused by name", () => {
    const metadata = ggufMetadata({ "tokenizer.ggml.pre": "deepseek-v9" });
    expect(() => loadGgufOf(metadata)).toThrow(
      expect.objectContaining({
        code: "ERR_TOKENIZER_TYPE",
        message: 'ERR_TOKENIZER_TYPE: pre-tokenizer "deepseek-v9" is not supported',
      }),
    );
  });

  test("a tokenizer model that is not known is refused by name", () => {
    const metadata = ggufMetadata({ "tokenizer.ggml.model": "rwkv" });
    expect(() => loadGgufOf(metadata)).toThrow(
      expect.objectContaining({
        code: "ERR_TOKENIZER_TYPE",
        message: 'ERR_TOKENIZER_TYPE: tokenizer model "rwkv" is not supported',
      }),
    );
  });

  test("metadata of a wrong type is an error that names the key", () => {
    const metadata = ggufMetadata({ "tokenizer.ggml.add_bos_token": "yes" });
    expect(() => loadGgufOf(metadata)).toThrow(/tokenizer\.ggml\.add_bos_token is no bool/);
  });
});

describe("control tokens", () => {
  const { tokenizer } = goldenModel("qwen2");
  const [imEnd] = tokenizer.encodePlain("<|im_end|>", ENCODE);

  test("plain text becomes a control token only when asked", () => {
    const ids = tokenizer.encodePlain("a<|im_end|>b", { parseSpecial: false, addBos: false });
    expect([...ids]).not.toContain(imEnd);
    expect([...tokenizer.encodePlain("a<|im_end|>b", ENCODE)]).toContain(imEnd);
  });

  test("they add no bytes to the output, and show their text to comparisons", () => {
    expect(tokenizer.tokenBytes(imEnd ?? -1)).toHaveLength(0);
    expect(tokenizer.tokenText(imEnd ?? -1)).toBe("<|im_end|>");
  });

  test("lone surrogates count as U+FFFD", () => {
    expect(tokenizer.encodePlain("a\ud800b", ENCODE)).toEqual(
      tokenizer.encodePlain("a\ufffdb", ENCODE),
    );
  });

  test("the end of generation comes from ids and from well-known texts", () => {
    const texts = [...goldenModel("llama3-rope").tokenizer.eogIds].map((id) =>
      goldenModel("llama3-rope").tokenizer.tokenText(id),
    );
    expect(new Set(texts)).toEqual(new Set(["<|eot_id|>", "<|end_of_text|>", "<|eom_id|>"]));
  });
});

describe("default model", () => {
  const { modelsDir } = loadConfig({ flags: {}, env: process.env }).model;
  const file = path.join(modelsDir, "SmolLM2-135M-Instruct.Q4_1.gguf");

  test.skipIf(!existsSync(file))("the probe question gives the known prompt ids", () => {
    const model = loadTextModel(file, inspectFile(file));
    const rendered = model.chatTemplate?.render(
      [{ role: "user", content: "What is the capital of France?" }],
      { tools: [], addGenerationPrompt: true, date: new Date(0) },
    );
    const ids =
      "1 9690 198 2683 359 253 5356 5646 11173 3365 3511 308 34519 28 7018 411 407 19712 8182 2 198 " +
      "1 4093 198 1780 314 260 3575 282 4649 47 2 198 1 520 9531 198";
    expect(rendered && model.tokenizer.encode(rendered, { addBos: true }).join(" ")).toBe(ids);
  });
});

function ggufMetadata(changes: Readonly<Record<string, string | number>>) {
  return {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": ["a", "b", "ab"],
    "tokenizer.ggml.token_type": Int32Array.of(1, 1, 1),
    "tokenizer.ggml.merges": ["a b"],
    ...changes,
  };
}
