/**
 * xgrammar as the judge of our masks: the same grammar over the same vocabulary. The package is for
 * browsers; this is how it loads on Node. A schema that it does not know ends its instance, so tests
 * give it plain ones only.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import vm from "node:vm";
import type * as XGrammar from "@mlc-ai/web-xgrammar";
import type { TokenizerFacts } from "../../src/native/addon-types.ts";

const library = loadLibrary();

function loadLibrary(): typeof XGrammar {
  const require = createRequire(import.meta.url);
  const filename = require.resolve("@mlc-ai/web-xgrammar");
  const module: { exports: object } = { exports: {} };
  const parameters = ["exports", "require", "module", "__filename", "__dirname"];
  const run = vm.compileFunction(readFileSync(filename, "utf8"), parameters, {
    filename,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  run.call(module.exports, module.exports, require, module, filename, path.dirname(filename));
  return module.exports as typeof XGrammar;
}

/** A grammar in the forms that both sides take. */
export type OracleGrammar = { readonly schema: object } | { readonly ebnf: string };

export class Oracle {
  readonly #compiler: XGrammar.GrammarCompiler;

  private constructor(compiler: XGrammar.GrammarCompiler) {
    this.#compiler = compiler;
  }

  /** Control tokens have no bytes: the library leaves them out as well. */
  static async open(facts: TokenizerFacts): Promise<Oracle> {
    const tokens = Array.from({ length: facts.vocabSize }, (_, id) =>
      byteLevelText(facts.bytes.subarray(facts.byteStarts[id], facts.byteStarts[id + 1])),
    );
    const stopIds = [facts.vocabSize]; // behind the vocabulary, so that no token ends a text
    const info = await library.TokenizerInfo.createTokenizerInfo(
      [...tokens, ""],
      "byte_level",
      false,
      facts.vocabSize + 1,
      stopIds,
    );
    return new Oracle(await library.GrammarCompiler.createGrammarCompiler(info));
  }

  async matcher(grammar: OracleGrammar): Promise<XGrammar.GrammarMatcher> {
    const compiled =
      "ebnf" in grammar
        ? await this.#compiler.compileGrammar(grammar.ebnf)
        : await this.#compiler.compileJSONSchema(
            JSON.stringify(grammar.schema),
            false,
            -1,
            [", ", ": "],
            true,
          );
    return library.GrammarMatcher.createGrammarMatcher(compiled);
  }
}

/** GPT-2's printable alphabet: bytes that are no visible Latin-1 character come behind U+0100. */
function byteLevelText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => BYTE_CHARACTERS[byte]).join("");
}

const BYTE_CHARACTERS = byteCharacters();

function byteCharacters(): readonly string[] {
  const isVisible = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad);
  let numOthers = 0;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(isVisible(byte) ? byte : 0x100 + numOthers++),
  );
}
