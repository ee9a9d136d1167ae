/**
 * Ids of real vocabularies. They are too big for the repository: WARMLOOP_TEST_TOKENIZERS names a folder
 * with a folder each (`qwen3/tokenizer.json`), taken from the packages that the expected files name.
 */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { FIXTURES, loadFolder, readJson } from "./text-fixtures.ts";

interface Strings {
  readonly strings: readonly string[];
  readonly lone_surrogates: readonly { readonly utf16: readonly number[] }[];
}

interface Expected {
  readonly npm_package: string;
  readonly ids: readonly (readonly number[])[];
  readonly lone: readonly (readonly number[])[];
}

const folder = process.env.WARMLOOP_TEST_TOKENIZERS ?? "";
const expectedFolder = path.join(FIXTURES ?? "", "tokenizers");
const names = FIXTURES
  ? readdirSync(expectedFolder)
      .filter((file) => file !== "strings.json")
      .map((file) => path.basename(file, ".json"))
  : ["a vocabulary"];

describe("real vocabularies", () => {
  test.for(names)("%s gives the ids of HF", (name, { skip }) => {
    skip(FIXTURES === undefined, "WARMLOOP_TEST_DATA has the expected ids");
    const file = path.join(folder, name);
    const expected = readJson(path.join(expectedFolder, `${name}.json`)) as Expected;
    const isThere = folder !== "" && existsSync(path.join(file, "tokenizer.json"));
    skip(!isThere, `WARMLOOP_TEST_TOKENIZERS has no ${name} of ${expected.npm_package}`);
    const { strings, lone_surrogates: lone } = readJson(
      path.join(expectedFolder, "strings.json"),
    ) as Strings;
    const { tokenizer } = loadFolder(file);
    const encode = (text: string): readonly number[] => [
      ...tokenizer.encodePlain(text, { parseSpecial: true, addBos: false }),
    ];
    expect(strings.map(encode)).toEqual(expected.ids);
    expect(lone.map(({ utf16 }) => encode(String.fromCharCode(...utf16)))).toEqual(expected.lone);
  });
});
