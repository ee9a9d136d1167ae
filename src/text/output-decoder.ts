/**
 * Tokens of one request in, text and calls out. Three layers, each of which holds back what it cannot
 * decide yet: bytes to characters, stop strings, calls. Tokens are taken one at a time, so the joined
 * events do not depend on how they were grouped. A decoder belongs to one request.
 */

import { HermesParser } from "./hermes-parser.ts";
import { StopMatcher } from "./stop-matcher.ts";
import type { OutputDecoder, OutputDecoderOptions, OutputEvent, Tokenizer } from "./text-types.ts";
import { CALL_CLOSE, CALL_OPEN } from "./tool-blocks.ts";

export interface StreamOutputDecoderOptions extends OutputDecoderOptions {
  /** The tokenizer puts a space in front of text: one at the start of the output is not part of it. */
  readonly stripLeadingSpace: boolean;
}

export class StreamOutputDecoder implements OutputDecoder {
  readonly #tokenizer: Tokenizer;
  // Keeps U+FEFF: it is text like any other here.
  readonly #utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #stops: StopMatcher;
  readonly #parser: HermesParser | undefined;
  #stripSpace: boolean;
  #events: OutputEvent[] = [];
  #numTokens = 0;

  constructor(tokenizer: Tokenizer, options: StreamOutputDecoderOptions) {
    this.#tokenizer = tokenizer;
    this.#stripSpace = options.stripLeadingSpace;
    this.#stops = new StopMatcher(options.stop);
    if (options.toolFormat !== undefined) {
      this.#parser = new HermesParser(new Set(options.toolNames), (event) => this.#add(event));
    }
  }

  get stopped(): boolean {
    return this.#stops.stopped;
  }

  get numTokens(): number {
    return this.#numTokens;
  }

  push(ids: Int32Array): readonly OutputEvent[] {
    for (const id of ids) {
      if (this.stopped) break;
      this.#numTokens++;
      this.#pushText(this.#utf8.decode(this.#bytesOf(id), { stream: true }));
    }
    return this.#takeEvents();
  }

  finish(): readonly OutputEvent[] {
    if (!this.stopped) this.#pushText(this.#utf8.decode());
    this.#deliver(this.#stops.finish());
    this.#parser?.finish();
    return this.#takeEvents();
  }

  #bytesOf(id: number): Uint8Array {
    if (this.#tokenizer.eogIds.has(id)) return NO_BYTES;
    const bytes = this.#tokenizer.tokenBytes(id);
    if (bytes.length > 0 || !this.#parser) return bytes;
    // Some vocabularies declare the markers of calls as control tokens.
    return MARKER_BYTES.get(this.#tokenizer.tokenText(id)) ?? NO_BYTES;
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

const NO_BYTES = new Uint8Array(0);
const MARKER_BYTES: ReadonlyMap<string, Uint8Array> = new Map(
  [CALL_OPEN, CALL_CLOSE].map((marker) => [marker, new TextEncoder().encode(marker)]),
);
