/**
 * Tokens of one request in, text, thinking and calls out. Three layers, each of which holds back what
 * it cannot decide yet: bytes to characters, stop strings, the output format. Tokens are taken one at a
 * time, so the joined events do not depend on how they were grouped. A decoder belongs to one request.
 */

import type { OutputDecoder, OutputDecoderOptions, OutputEvent } from "../text-types.ts";
import { CharacterDecoder } from "./character-decoder.ts";
import { controlMarkers, createOutputParser, type OutputParser } from "./output-parser.ts";
import { StopMatcher } from "./stop-matcher.ts";
import type { TokenTexts } from "./token-texts.ts";

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
  #stripSpace: boolean;
  #events: OutputEvent[] = [];
  #numTokens = 0;
  #numReasoningTokens = 0;

  constructor(texts: TokenTexts, options: StreamOutputDecoderOptions) {
    this.#texts = texts;
    this.#stripSpace = options.stripLeadingSpace;
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

  push(ids: Int32Array): readonly OutputEvent[] {
    for (const id of ids) {
      if (this.stopped) break;
      this.#numTokens++;
      const wasThinking = this.#parser?.isThinking;
      const marker = this.#markerOf(id);
      if (marker === undefined) this.#pushText(this.#textOf(id));
      else this.#pushMarker(marker);
      if (wasThinking || this.#parser?.isThinking) this.#numReasoningTokens++;
    }
    return this.#takeEvents();
  }

  finish(wasCut = false): readonly OutputEvent[] {
    this.#deliver(this.#stops.finish());
    this.#parser?.finish(wasCut);
    return this.#takeEvents();
  }

  #markerOf(id: number): string | undefined {
    if (this.#markers.size === 0 || this.#texts.wholeText(id) !== "") return undefined;
    const text = this.#texts.controlText(id);
    return text !== undefined && this.#markers.has(text) ? text : undefined;
  }

  #textOf(id: number): string {
    const text = this.#texts.wholeText(id);
    if (text === undefined) return this.#characters.push(this.#texts.bytes(id));
    // Whole characters end an unfinished one; a token without text does not.
    if (text !== "") this.#characters.reset();
    return text;
  }

  /** A control token: no stop string reaches into it. */
  #pushMarker(marker: string): void {
    this.#characters.reset();
    this.#stripSpace = false;
    this.#deliver(this.#stops.finish());
    this.#deliver(marker);
  }

  #pushText(text: string): void {
    if (text === "") return;
    const stripped = this.#stripSpace && text.startsWith(" ") ? text.slice(1) : text;
    this.#stripSpace = false;
    this.#deliver(this.#stops.push(stripped));
  }

  #deliver(text: string): void {
    if (text === "") return;
    if (this.#parser) this.#parser.push(text);
    else this.#add({ type: "text", delta: text });
  }

  /** Joins a delta to the last event where that is a delta of the same kind. */
  #add(event: OutputEvent): void {
    const last = this.#events.at(-1);
    if (last && "delta" in last && "delta" in event && last.type === event.type) {
      this.#events[this.#events.length - 1] = { ...last, delta: last.delta + event.delta };
    } else {
      this.#events.push(event);
    }
  }

  #takeEvents(): readonly OutputEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
