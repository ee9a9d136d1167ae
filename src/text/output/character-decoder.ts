/**
 * Bytes in, whole characters out. Bytes that are no character, such as the half of one at the end of an
 * answer that was cut, are left out: a client could not tell U+FFFD from what the model wrote. For the
 * few tokens that hold a part of a character; whole ones never come here.
 */
export interface DecodedBytes {
  readonly text: string;
  /** Of the oldest bytes that had not been decided: whether they are a part of the text. */
  readonly kept: readonly boolean[];
}

export class CharacterDecoder {
  // Keeps U+FEFF: it is text like any other here.
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** The beginning of a character. */
  #held: readonly number[] = [];

  push(bytes: Uint8Array): DecodedBytes {
    const all = [...this.#held, ...bytes];
    const kept: boolean[] = [];
    let text = "";
    let at = 0;
    while (at < all.length) {
      const character = all.slice(at, at + numBytesOf(all[at] ?? 0));
      if (isUnfinished(character)) break;
      const decoded = this.#decode(character);
      text += decoded ?? "";
      at += decoded === undefined ? 1 : character.length;
      while (kept.length < at) kept.push(decoded !== undefined);
    }
    this.#held = all.slice(at);
    return { text, kept };
  }

  /** Forgets an unfinished character. */
  reset(): void {
    this.#held = [];
  }

  #decode(character: readonly number[]): string | undefined {
    try {
      return this.#utf8.decode(Uint8Array.from(character));
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }
}

/** Of the character that starts with this byte; 1 for a byte that starts none. */
function numBytesOf(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}

function isUnfinished([lead = 0, ...rest]: readonly number[]): boolean {
  return rest.length + 1 < numBytesOf(lead) && rest.every((byte) => byte >> 6 === 0b10);
}
