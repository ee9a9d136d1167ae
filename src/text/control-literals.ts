/**
 * Finds the literal texts of control tokens in a string: leftmost first, longest first. Vocabularies
 * have up to thousands of them, so this looks them up by length instead of trying one by one.
 */
export class ControlLiterals {
  readonly #idByText: ReadonlyMap<string, number>;
  /** Descending. */
  readonly #lengths: readonly number[];
  readonly #firstCharacter: RegExp | undefined;

  constructor(tokens: readonly { readonly id: number; readonly text: string }[]) {
    this.#idByText = new Map(tokens.map((token) => [token.text, token.id]));
    const texts = [...this.#idByText.keys()];
    this.#lengths = [...new Set(texts.map((text) => text.length))].sort((a, b) => b - a);
    const first = [...new Set(texts.map((text) => text.charCodeAt(0)))];
    this.#firstCharacter =
      first.length === 0 ? undefined : new RegExp(`[${first.map(codeUnitEscape).join("")}]`, "g");
  }

  get texts(): Iterable<string> {
    return this.#idByText.keys();
  }

  /** The next literal at or after `from`. */
  find(
    text: string,
    from: number,
  ): { readonly index: number; readonly literal: string; readonly id: number } | undefined {
    const first = this.#firstCharacter;
    if (!first) return undefined;
    first.lastIndex = from;
    for (let match = first.exec(text); match; match = first.exec(text)) {
      for (const length of this.#lengths) {
        const literal = text.slice(match.index, match.index + length);
        const id = this.#idByText.get(literal);
        if (id !== undefined) return { index: match.index, literal, id };
      }
    }
    return undefined;
  }
}

function codeUnitEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
