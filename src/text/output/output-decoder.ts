/**
 * Tokens of one request in, text, thinking and calls out. Three layers, each of which holds back what
 * it cannot decide yet: bytes to characters, stop strings, the output format. Tokens are taken one at a
 * time, so the joined events do not depend on how they were grouped. A decoder belongs to one request.
 */

import type {
  OutputDecoder,
  OutputDecoderOptions,
  OutputEvent,
  TokenLogprob,
  TokenScore,
} from "../text-types.ts";
import { CharacterDecoder } from "./character-decoder.ts";
import { LogprobTrace } from "./logprob-trace.ts";
import { controlMarkers, createOutputParser, type OutputParser } from "./output-parser.ts";
import type { ParsedEvent } from "./parsed-event.ts";
import { StopMatcher } from "./stop-matcher.ts";
import type { TokenTexts } from "./token-texts.ts";

type OtherEvent = Exclude<OutputEvent, { readonly type: "text" }>;

/** It grows as long as it is the last one: a whole prompt comes at once. */
interface TextEvent {
  readonly type: "text";
  delta: string;
  logprobs?: TokenLogprob[];
}

export interface StreamOutputDecoderOptions extends OutputDecoderOptions {
  /** The tokenizer puts a space in front of text: one at the start of the output is not part of it. */
  readonly stripLeadingSpace: boolean;
}

export class StreamOutputDecoder implements OutputDecoder {
  readonly #texts: TokenTexts;
  readonly #characters = new CharacterDecoder();
  readonly #stops: StopMatcher;
  readonly #parser: OutputParser | undefined;
  /** Texts of the control tokens that the parser sees. */
  readonly #markers: ReadonlySet<string>;
  readonly #reportsEveryToken: boolean;
  /** Once tokens came with scores. */
  #trace: LogprobTrace | undefined;
  #stripSpace: boolean;
  #events: (OtherEvent | TextEvent)[] = [];
  #numTokens = 0;
  #numReasoningTokens = 0;

  constructor(texts: TokenTexts, options: StreamOutputDecoderOptions) {
    this.#texts = texts;
    this.#stripSpace = options.stripLeadingSpace;
    this.#reportsEveryToken = options.reportsEveryToken ?? false;
    this.#stops = new StopMatcher(options.stop);
    const { format = {} } = options;
    this.#parser = createOutputParser(format, (event) => this.#add(event));
    this.#markers = controlMarkers(format);
  }

  get stopped(): boolean {
    return this.#stops.stopped;
  }

  get numTokens(): number {
    return this.#numTokens;
  }

  get numReasoningTokens(): number {
    return this.#numReasoningTokens;
  }

  push(ids: Int32Array, scores?: readonly TokenScore[]): readonly OutputEvent[] {
    for (const [index, id] of ids.entries()) {
      if (this.stopped) break;
      this.#numTokens++;
      const wasThinking = this.#parser?.isThinking;
      const score = scores?.[index];
      const entry = score && this.#texts.logprobOf(id, score);
      const marker = this.#markerOf(id);
      if (marker === undefined) this.#pushText(this.#textOf(id, entry));
      else this.#pushMarker(marker, entry);
      if (wasThinking || this.#parser?.isThinking) this.#numReasoningTokens++;
    }
    return this.#takeEvents();
  }

  finish(wasCut = false): readonly OutputEvent[] {
    this.#deliver(this.#stops.finish());
    this.#parser?.finish(wasCut);
    this.#addLogprobs(this.#trace?.finish());
    return this.#takeEvents();
  }

  #markerOf(id: number): string | undefined {
    if (this.#markers.size === 0 || this.#texts.wholeText(id) !== "") return undefined;
    const text = this.#texts.controlText(id);
    return text !== undefined && this.#markers.has(text) ? text : undefined;
  }

  #textOf(id: number, entry: TokenLogprob | undefined): string {
    const text = this.#texts.wholeText(id);
    if (text === undefined) return this.#partOf(this.#texts.bytes(id), entry);
    // Whole characters end an unfinished one; a token without text does not.
    if (text !== "") this.#characters.reset();
    if (text !== "" || this.#reportsEveryToken) this.#traceToken(entry, text);
    return text;
  }

  /** The characters that the bytes complete. */
  #partOf(bytes: Uint8Array, entry: TokenLogprob | undefined): string {
    const { text, kept } = this.#characters.push(bytes);
    if (entry !== undefined) {
      this.#trace ??= new LogprobTrace();
      this.#trace.addPart(entry, bytes);
      this.#trace.decide(kept, text);
    }
    return text;
  }

  #traceToken(entry: TokenLogprob | undefined, text: string): void {
    if (entry === undefined) return;
    this.#trace ??= new LogprobTrace();
    this.#trace.addToken(entry, text);
  }

  /** A control token: no stop string reaches into it. */
  #pushMarker(marker: string, entry: TokenLogprob | undefined): void {
    this.#characters.reset();
    this.#traceToken(entry, marker);
    this.#stripSpace = false;
    this.#deliver(this.#stops.finish());
    this.#deliver(marker);
  }

  #pushText(text: string): void {
    if (text === "") return;
    const hasSpace = this.#stripSpace && text.startsWith(" ");
    if (hasSpace) this.#trace?.dropFirstSpace();
    this.#stripSpace = false;
    this.#deliver(this.#stops.push(hasSpace ? text.slice(1) : text));
  }

  #deliver(text: string): void {
    if (text === "") return;
    if (this.#parser) this.#parser.push(text);
    else this.#addText(text, this.#trace?.take(text));
  }

  #add(event: ParsedEvent): void {
    if (event.type === "text") {
      this.#addText(event.delta, this.#trace?.take(event.delta, event.end));
      return;
    }
    this.#addLogprobs(this.#trace?.flush());
    if (event.type === "reasoning") {
      this.#trace?.skip(event.end);
      this.#addOther({ type: "reasoning", delta: event.delta });
    } else {
      this.#addOther(event);
    }
  }

  /** Joins a delta to the last event where that is a delta of the same kind. */
  #addOther(event: OtherEvent): void {
    const last = this.#events.at(-1);
    if (last && "delta" in last && "delta" in event && last.type === event.type) {
      this.#events[this.#events.length - 1] = { ...last, delta: last.delta + event.delta };
    } else {
      this.#events.push(event);
    }
  }

  /** Log probabilities of text that went out before. */
  #addLogprobs(logprobs: readonly TokenLogprob[] = []): void {
    if (logprobs.length > 0) this.#addText("", logprobs);
  }

  /** Joins the text to the last event where that is one too. */
  #addText(delta: string, added: readonly TokenLogprob[] | undefined): void {
    const last = this.#events.at(-1);
    if (last?.type !== "text") {
      this.#events.push({ type: "text", delta, ...(added && { logprobs: [...added] }) });
      return;
    }
    last.delta += delta;
    if (added === undefined) return;
    last.logprobs ??= [];
    last.logprobs.push(...added);
  }

  #takeEvents(): readonly OutputEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
