/**
 * @mlc-ai/web-xgrammar over a vocabulary of ours. It is made for browsers: its module is compiled by
 * hand, and a schema that it does not support ends its WebAssembly instance, so that the next one
 * gets a fresh one.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { byteLevelText, loadXGrammar } from "../../test/engine/load-xgrammar.ts";

const require = createRequire(import.meta.url);
const FILE = require.resolve("@mlc-ai/web-xgrammar");
const PACKAGE = path.join(path.dirname(FILE), "..", "package.json");

export const XGRAMMAR = {
  name: "@mlc-ai/web-xgrammar",
  version: JSON.parse(readFileSync(PACKAGE, "utf8")).version,
};

/** Every token as a byte-level vocabulary spells it; control tokens, which add no bytes, by their text. */
function spelledVocabulary({ bytes, byteStarts, controlTokens, vocabSize }) {
  const spelled = Array.from({ length: vocabSize }, (_, id) =>
    byteLevelText(bytes.subarray(byteStarts[id], byteStarts[id + 1])),
  );
  for (const { id, text } of controlTokens) spelled[id] = text;
  return spelled;
}

export class XGrammar {
  #facts;
  #stopTokenIds;
  #module;
  #compiler;

  constructor(facts, stopTokenIds) {
    this.#facts = facts;
    this.#stopTokenIds = stopTokenIds;
  }

  /** @returns {Promise<object | undefined>} a matcher at its start; undefined: not supported */
  async compile(schema) {
    try {
      await this.#open();
      const spaced = [JSON.stringify(schema), false, -1, [", ", ": "], false];
      const compiled = await this.#compiler.compileJSONSchema(...spaced);
      return await this.#module.GrammarMatcher.createGrammarMatcher(compiled);
    } catch {
      this.#module = undefined; // the instance is gone
      return undefined;
    }
  }

  async #open() {
    if (this.#module !== undefined) return;
    this.#module = loadXGrammar();
    const info = await this.#module.TokenizerInfo.createTokenizerInfo(
      spelledVocabulary(this.#facts),
      "byte_level",
      false,
      this.#facts.vocabSize,
      this.#stopTokenIds,
    );
    this.#compiler = await this.#module.GrammarCompiler.createGrammarCompiler(info, false);
  }

  /** What is not part of a compilation. */
  async warmUp() {
    await this.compile({ type: "boolean" });
  }
}
