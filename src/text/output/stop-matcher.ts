/**
 * Finds stop strings in streamed text. Text that could be the start of a stop string is held back, so no
 * part of one is ever delivered. The string that is complete first wins, which does not depend on how
 * the text was cut into deltas.
 */
export class StopMatcher {
  readonly #stops: readonly string[];
  #held = "";
  #stopped = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== "");
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Text that is certain not to belong to a stop string; nothing after one was met. */
  push(text: string): string {
    if (this.#stopped || text === "") return "";
    if (this.#stops.length === 0) return text;
    const buffer = this.#held + text;
    const start = this.#firstStop(buffer);
    if (start !== undefined) {
      this.#stopped = true;
      this.#held = "";
      return buffer.slice(0, start);
    }
    const keep = buffer.length - longestPartialSuffix(buffer, this.#stops);
    this.#held = buffer.slice(keep);
    return buffer.slice(0, keep);
  }

  /** What was held back and turned out to be text. */
  finish(): string {
    const rest = this.#held;
    this.#held = "";
    return rest;
  }

  #firstStop(buffer: string): number | undefined {
    let best: { readonly start: number; readonly end: number } | undefined;
    for (const stop of this.#stops) {
      const start = buffer.indexOf(stop);
      if (start < 0) continue;
      const end = start + stop.length;
      if (!best || end < best.end || (end === best.end && start < best.start))
        best = { start, end };
    }
    return best?.start;
  }
}

/** Length of the longest end of `text` with which one of `literals` starts, the whole one excluded. */
export function longestPartialSuffix(text: string, literals: readonly string[]): number {
  let longest = 0;
  for (const literal of literals) {
    for (let length = Math.min(literal.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(literal.slice(0, length))) {
        longest = length;
        break;
      }
    }
  }
  return longest;
}
