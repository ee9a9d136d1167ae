/**
 * Which grammars can be enforced. Clients send the same tools with every request, so the answers are
 * kept by content.
 */
import { LRUCache } from "lru-cache";
import type { GrammarSpec } from "../text/output/grammar-spec.ts";
import type { Tokenizer } from "../text/text-types.ts";

const MAX_CHECKS = 2048;
const MAX_SPEC_CHARS = 16 * 1024 * 1024;

export class GrammarChecks {
  readonly #tokenizer: Pick<Tokenizer, "checkGrammar">;
  /** By spec: what is wrong with it, empty when nothing is. */
  readonly #problems = new LRUCache<string, string>({
    max: MAX_CHECKS,
    maxSize: MAX_SPEC_CHARS,
    sizeCalculation: (problem, spec) => spec.length + problem.length + 1,
  });

  constructor(tokenizer: Pick<Tokenizer, "checkGrammar">) {
    this.#tokenizer = tokenizer;
  }

  /** Why output cannot be held to this grammar; undefined: it can. */
  problemOf(grammar: GrammarSpec): string | undefined {
    const spec = JSON.stringify(grammar);
    const known = this.#problems.get(spec) ?? this.#check(spec);
    this.#problems.set(spec, known);
    return known === "" ? undefined : known;
  }

  #check(spec: string): string {
    try {
      this.#tokenizer.checkGrammar(spec);
      return "";
    } catch (error) {
      const problem = grammarProblem(error);
      if (problem === undefined) throw error;
      return problem;
    }
  }
}

/** What is wrong with a grammar; undefined: the error is about something else. */
export function grammarProblem(error: unknown): string | undefined {
  const isOurs = error instanceof Error && "code" in error && error.code === "ERR_GRAMMAR";
  return isOurs ? error.message.replace(/^ERR_GRAMMAR: /, "") : undefined;
}
