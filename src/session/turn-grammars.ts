/** Gives turns the grammars that their requests ask for, compiled before the engine needs them. */
import { engineApiError } from "../protocol/engine-error-map.ts";
import type { CallableTool } from "../protocol/responses-types.ts";
import type { ChatTemplate, Tokenizer } from "../text/text-types.ts";
import { GrammarChecks, grammarProblem } from "./grammar-checks.ts";
import type { Turn } from "./turn.ts";
import { turnGrammar } from "./turn-grammar.ts";
import { outputFormatOf } from "./turn-output-format.ts";

export class TurnGrammars {
  readonly #tokenizer: Pick<Tokenizer, "checkGrammar" | "prepareGrammar">;
  readonly #checks: GrammarChecks;
  /** By the tools that a client repeats, and by what else the request says of calls and answers. */
  readonly #specs = new WeakMap<readonly CallableTool[], Map<string, string | undefined>>();

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
    const spec = this.#specOf(turn, template);
    if (spec === undefined) return turn;
    await this.#prepare(spec);
    return { ...turn, grammar: spec };
  }

  #specOf(turn: Turn, template: ChatTemplate | undefined): string | undefined {
    const { callableTools, toolChoice, parallelToolCalls, textFormat } = turn.request;
    const thinking = template && outputFormatOf(turn, template)?.thinking;
    const key = JSON.stringify([!template, toolChoice, parallelToolCalls, textFormat, thinking]);
    const known = this.#specs.get(callableTools) ?? new Map<string, string | undefined>();
    this.#specs.set(callableTools, known);
    if (known.has(key)) return known.get(key);
    const toolFormat = template?.toolFormat;
    const grammar = turnGrammar(turn.request, { toolFormat, thinking, checks: this.#checks });
    const spec = grammar && JSON.stringify(grammar);
    known.set(key, spec);
    return spec;
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
