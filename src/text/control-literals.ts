/**
 * Finds the literal texts of control tokens in a string: leftmost first, longest first. Vocabularies
 * have up to thousands of them, so they are a tree by their characters: a place where none begins is
 * left at the first character that fits none.
 */
interface LiteralNode {
  /** Of the literal that ends here. */
  id: number | undefined;
  /** By code unit. */
  readonly next: Map<number, LiteralNode>;
}

export interface FoundLiteral {
  readonly index: number;
  readonly literal: string;
  readonly id: number;
}

export class ControlLiterals {
  readonly texts: readonly string[];
  readonly #root: LiteralNode = { id: undefined, next: new Map() };
  /** By code unit, 1: a literal begins with it. Most texts are read past it only. */
  readonly #firstUnits = new Uint8Array(0x1_0000);

  constructor(tokens: readonly { readonly id: number; readonly text: string }[]) {
    this.texts = tokens.map(({ text }) => text);
    for (const { id, text } of tokens) this.#add(text, id);
  }

  /** The next literal at or after `from`. */
  find(text: string, from: number): FoundLiteral | undefined {
    const firstUnits = this.#firstUnits;
    const root = this.#root;
    for (let index = from; index < text.length; index++) {
      if (firstUnits[text.charCodeAt(index)] === 0) continue;
      const found = longestAt(text, index, root);
      if (found) return found;
    }
    return undefined;
  }

  #add(text: string, id: number): void {
    this.#firstUnits[text.charCodeAt(0)] = 1;
    let node = this.#root;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      const next = node.next.get(unit) ?? { id: undefined, next: new Map() };
      node.next.set(unit, next);
      node = next;
    }
    node.id = id;
  }
}

function longestAt(text: string, index: number, root: LiteralNode): FoundLiteral | undefined {
  let found: FoundLiteral | undefined;
  let end = index;
  for (let node = root.next.get(text.charCodeAt(end)); node; ) {
    end++;
    if (node.id !== undefined) found = { index, literal: text.slice(index, end), id: node.id };
    node = node.next.get(text.charCodeAt(end));
  }
  return found;
}
