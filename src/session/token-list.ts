/**
 * A prompt's token ids, immutable to its readers, cheap to extend: `append` writes behind the end of
 * a shared buffer when this list is its newest, so a turn costs its new tokens only. Appending to
 * an older list (a fork) copies.
 */
interface SharedBuffer {
  ids: Int32Array;
  numUsed: number;
}

export class TokenList {
  readonly length: number;
  readonly #buffer: SharedBuffer;

  private constructor(buffer: SharedBuffer, length: number) {
    this.#buffer = buffer;
    this.length = length;
  }

  /** @param ids stays as it is from here on: the list has no copy, and writes nothing into it */
  static from(ids: Int32Array): TokenList {
    return new TokenList({ ids, numUsed: ids.length }, ids.length);
  }

  at(idx: number): number | undefined {
    return idx < this.length ? this.#buffer.ids[idx] : undefined;
  }

  /** The first `length` tokens. */
  prefix(length: number): TokenList {
    return new TokenList(this.#buffer, Math.min(length, this.length));
  }

  append(ids: Int32Array): TokenList {
    const buffer = this.#buffer.numUsed === this.length ? this.#buffer : this.#copy(ids.length);
    const length = this.length + ids.length;
    if (buffer.ids.length < length) {
      const grown = new Int32Array(Math.max(length, buffer.ids.length * 2));
      grown.set(buffer.ids.subarray(0, this.length));
      buffer.ids = grown;
    }
    buffer.ids.set(ids, this.length);
    buffer.numUsed = length;
    return new TokenList(buffer, length);
  }

  /** A copy of the ids from `start` on, the caller's own. */
  toArray(start = 0): Int32Array {
    return this.#buffer.ids.slice(start, this.length);
  }

  #copy(spare: number): SharedBuffer {
    const ids = new Int32Array(this.length + spare);
    ids.set(this.#buffer.ids.subarray(0, this.length));
    return { ids, numUsed: this.length };
  }
}
