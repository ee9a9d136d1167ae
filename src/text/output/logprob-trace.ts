/**
 * Which tokens made the text of an output, so that its log probabilities go out with it. Text comes in with
 * its token and goes out as the output decoder's layers let it: held back, cut, or taken for something
 * else than text. An entry goes out with the text that completes its token; its `bytes` are those that
 * the text has of it, so that the joined bytes of all entries are the text's own.
 */

import type { TokenLogprob } from "../text-types.ts";

/** A token in the stream. */
interface Run {
  readonly entry: TokenLogprob;
  /** What it adds to the text that comes in, as far as that is decided. */
  readonly bytes: number[];
  numUndecided: number;
  numTaken: number;
  /** What of it went out since it was last reported. */
  readonly shown: number[];
}

export class LogprobTrace {
  /** Tokens that are not used up, oldest first. */
  readonly #runs: Run[] = [];
  /** Bytes that may or may not become characters, each with its token. */
  #undecided: { readonly run: Run; readonly byte: number }[] = [];
  /** Text that came in and was not taken yet. */
  #text = "";
  /** Where it starts in all text that came in. */
  #start = 0;

  /** A token of whole characters, or one without text. */
  addToken(entry: TokenLogprob, text: string): void {
    if (text !== "") this.#dropUndecided();
    this.#addRun(entry).bytes.push(...Buffer.from(text));
    this.#text += text;
  }

  /** A token that holds a part of a character: `decide` says what becomes of its bytes. */
  addPart(entry: TokenLogprob, bytes: Uint8Array): void {
    const run = this.#addRun(entry);
    run.numUndecided = bytes.length;
    for (const byte of bytes) this.#undecided.push({ run, byte });
  }

  /** @param kept of the oldest undecided bytes: whether they are a part of `text` */
  decide(kept: readonly boolean[], text: string): void {
    for (const [index, { run, byte }] of this.#undecided.splice(0, kept.length).entries()) {
      run.numUndecided--;
      if (kept[index]) run.bytes.push(byte);
    }
    this.#text += text;
  }

  /** Nothing was taken yet, and the text that came in loses its first character, a space. */
  dropFirstSpace(): void {
    this.#runs.find(({ bytes }) => bytes.length > 0)?.bytes.shift();
    this.#text = this.#text.slice(1);
  }

  /**
   * A text goes out: the entries of the tokens that it completes.
   * @param end where it ends in all text that came in; default: it is the oldest that was not taken
   */
  take(delta: string, end: number = this.#start + delta.length): readonly TokenLogprob[] {
    const start = end - delta.length;
    const begun = start > this.#start ? this.flush() : [];
    this.skip(start);
    return [...begun, ...this.#advance(delta.length, true)];
  }

  /** All in front of `end` that was not taken is no text. */
  skip(end: number): void {
    this.#advance(end - this.#start, false);
  }

  /** Something else than text comes: a token that has begun to go out goes no further. */
  flush(): readonly TokenLogprob[] {
    const [first] = this.#runs;
    return first !== undefined && first.shown.length > 0 ? [report(first)] : [];
  }

  /** Nothing comes any more. */
  finish(): readonly TokenLogprob[] {
    this.#dropUndecided();
    const entries = this.flush();
    if (this.#text !== "") return entries;
    // Behind the last text: an unfinished character, or tokens without text.
    return [...entries, ...this.#runs.filter(({ bytes }) => bytes.length === 0).map(report)];
  }

  #addRun(entry: TokenLogprob): Run {
    const run: Run = { entry, bytes: [], numUndecided: 0, numTaken: 0, shown: [] };
    this.#runs.push(run);
    return run;
  }

  #dropUndecided(): void {
    for (const { run } of this.#undecided) run.numUndecided--;
    this.#undecided = [];
  }

  /** Takes the oldest text. Returns the entries of what is shown. */
  #advance(length: number, isShown: boolean): readonly TokenLogprob[] {
    const entries: TokenLogprob[] = [];
    let numLeft = Buffer.byteLength(this.#text.slice(0, length));
    this.#text = this.#text.slice(length);
    this.#start += length;
    let numUsedUp = 0;
    for (const run of this.#runs) {
      if (numLeft === 0) break;
      const bytes = run.bytes.slice(run.numTaken, run.numTaken + numLeft);
      run.numTaken += bytes.length;
      numLeft -= bytes.length;
      if (isShown) run.shown.push(...bytes);
      if (run.numTaken < run.bytes.length || run.numUndecided > 0) break;
      numUsedUp++;
      if (run.shown.length > 0 || (isShown && run.bytes.length === 0)) entries.push(report(run));
    }
    this.#runs.splice(0, numUsedUp);
    return entries;
  }
}

function report({ entry, shown }: Run): TokenLogprob {
  return { ...entry, bytes: shown.splice(0) };
}
