/**
 * xgrammar as the judge of our masks: the same grammar over the same vocabulary. A schema that it does
 * not know ends its instance, so tests give it plain ones only.
 */
import type * as XGrammar from "@mlc-ai/web-xgrammar";
import type { TokenizerFacts } from "../../src/native/addon-types.ts";
import { byteLevelText, loadXGrammar } from "./load-xgrammar.ts";

const library = loadXGrammar();

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
