/** Ids of real vocabularies, of those that another test fetched. */
import { readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { cachedVocabulary } from "../../real-vocabularies.ts";
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

const expectedFolder = path.join(FIXTURES ?? "", "tokenizers");
const names = FIXTURES
  ? readdirSync(expectedFolder)
      .filter((file) => file !== "strings.json")
      .map((file) => path.basename(file, ".json"))
  : ["a vocabulary"];

describe("real vocabularies", () => {
  test.for(names)("%s gives the ids of HF", (name, { skip }) => {
    skip(FIXTURES === undefined, "WARMLOOP_TEST_DATA has the expected ids");
    const folder = cachedVocabulary(name);
    const expected = readJson(path.join(expectedFolder, `${name}.json`)) as Expected;
    skip(folder === undefined, `${expected.npm_package} was not fetched`);
    const { strings, lone_surrogates: lone } = readJson(
      path.join(expectedFolder, "strings.json"),
    ) as Strings;
    const { tokenizer } = loadFolder(folder ?? "");
    const encode = (text: string): readonly number[] => [
      ...tokenizer.encodePlain(text, { parseSpecial: true, addBos: false }),
    ];
    expect(strings.map(encode)).toEqual(expected.ids);
    expect(lone.map(({ utf16 }) => encode(String.fromCharCode(...utf16)))).toEqual(expected.lone);
  });
});
