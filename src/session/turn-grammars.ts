/** Gives turns the grammars that their requests ask for, compiled before the engine needs them. */
import { engineApiError } from "../protocol/engine-error-map.ts";
import type { ChatTemplate, Tokenizer } from "../text/text-types.ts";
import { GrammarChecks, grammarProblem } from "./grammar-checks.ts";
import type { Turn } from "./turn.ts";
import { turnGrammar } from "./turn-grammar.ts";
import { outputFormatOf } from "./turn-output-format.ts";

export class TurnGrammars {
  readonly #tokenizer: Pick<Tokenizer, "checkGrammar" | "prepareGrammar">;
  readonly #checks: GrammarChecks;

  constructor(tokenizer: Pick<Tokenizer, "checkGrammar" | "prepareGrammar">) {
    this.#tokenizer = tokenizer;
    this.#checks = new GrammarChecks(tokenizer);
  }

  /**
   * @param template undefined: the prompt is not a chat
   * @throws {ApiError} for what cannot be enforced
   */
  async addTo(turn: Turn, template: ChatTemplate | undefined): Promise<Turn> {
    if (!turn.request.generate) return turn;
    const grammar = turnGrammar(turn.request, {
      toolFormat: template?.toolFormat,
      thinking: template && outputFormatOf(turn, template)?.thinking,
      checks: this.#checks,
    });
    if (grammar === undefined) return turn;
    const spec = JSON.stringify(grammar);
    await this.#prepare(spec);
    return { ...turn, grammar: spec };
  }

  async #prepare(spec: string): Promise<void> {
    try {
      await this.#tokenizer.prepareGrammar(spec);
    } catch (error) {
      const problem = grammarProblem(error);
      if (problem === undefined) throw error;
      throw engineApiError("ERR_GRAMMAR", problem);
    }
  }
}
