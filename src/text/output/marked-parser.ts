/**
 * Splits model output into text, thinking and calls, for families that put thinking and calls between
 * markers.
 *
 * It works on characters, so its events, joined, do not depend on how the text arrived. A block that
 * is no call of an allowed function comes out as the text it is. Once a call is announced its arguments
 * stream; a call that breaks or is cut inside them gets no `call_end`. White space between a call or
 * thinking and its neighbours is dropped: rendering puts it back.
 */

import { CallBlock } from "./call-block.ts";
import { CALL_FORMATS } from "./call-formats.ts";
import type { BlockSyntax } from "./call-syntax.ts";
import type { OfferedTool, OutputFormat } from "./output-format.ts";
import type { ParsedEvent } from "./parsed-event.ts";
import { longestPartialSuffix } from "./stop-matcher.ts";
import { type ThinkingMarkers, thinkingMarkers } from "./thinking-formats.ts";

type Mode =
  | "text"
  | "thinking"
  /** Thinking, a JSON answer or a call: the first characters tell. */
  | "undecided"
  /** Behind the opening of a block of calls. */
  | "calls";

const JSON_START = /^(?:[[{"\-\d]|(?:true|false|null)(?![\p{L}\p{N}]))/u;
const JSON_WORDS = ["true", "false", "null"];

export class MarkedParser {
  readonly #emit: (event: ParsedEvent) => void;
  readonly #blocks: readonly BlockSyntax[];
  readonly #tools: ReadonlyMap<string, OfferedTool>;
  readonly #thinking: ThinkingMarkers | undefined;
  #mode: Mode = "text";
  /** Text that is not decided yet. */
  #pending = "";
  /** Characters of all text so far; what is pending is their end. */
  #numPushed = 0;
  #calls: CallBlock | undefined;
  /** A marker opened the block of calls. */
  #isMarked = false;
  /** Text or thinking starts here: nothing but white space has come. */
  #isAtStart = true;
  /** White space in front of the next text belongs to a marker. */
  #dropsSpace = false;
  /** Thinking may open where a message starts: not right behind thinking. */
  #canThink: boolean;
  #hasThought = false;

  constructor({ calls, thinking }: OutputFormat, emit: (event: ParsedEvent) => void) {
    this.#emit = emit;
    this.#tools = new Map(calls?.tools.map((tool) => [tool.name, tool]));
    this.#blocks = calls && calls.format !== "harmony" ? CALL_FORMATS[calls.format].blocks : [];
    this.#thinking = thinking && thinkingMarkers(thinking.format);
    this.#canThink = this.#thinking !== undefined;
    if (thinking?.start === "open") this.#startThinking();
    else if (thinking?.start === "bare") this.#mode = "undecided";
  }

  get isThinking(): boolean {
    return this.#mode === "thinking";
  }

  push(text: string): void {
    this.#pending += text;
    this.#numPushed += text.length;
    let hasAdvanced = true;
    while (hasAdvanced) hasAdvanced = this.#advance();
  }

  finish(wasCut = false): void {
    switch (this.#mode) {
      case "thinking":
        this.#emitThinking(this.#pending, 0);
        break;
      case "calls":
        this.#finishCalls(wasCut);
        break;
      default:
        this.#emitText(this.#dropsSpace ? this.#pending.trimStart() : this.#pending, 0);
    }
    this.#pending = "";
  }

  /** One step of the current mode; false when more text is needed. */
  #advance(): boolean {
    switch (this.#mode) {
      case "text":
        return this.#isAtStart ? this.#advanceStart() : this.#advanceText();
      case "thinking":
        return this.#isAtStart ? this.#advanceThoughtStart() : this.#advanceThinking();
      case "undecided":
        return this.#decide();
      case "calls":
        return this.#advanceCalls();
    }
  }

  // --- text ----------------------------------------------------------------------------------

  /** Where a message starts, thinking may open and a call needs no marker. */
  #advanceStart(): boolean {
    const text = this.#pending.trimStart();
    if (text === "") return false;
    const open = this.#canThink ? this.#thinking?.open : undefined;
    if (open !== undefined && text.startsWith(open)) {
      this.#pending = text.slice(open.length);
      this.#startThinking();
      return true;
    }
    if (open?.startsWith(text)) return false;
    const block = this.#blocks.find(
      ({ opening }) => "leading" in opening && text.startsWith(opening.leading),
    );
    if (block) this.#openBlock(block, this.#pending.length - text.length);
    else this.#isAtStart = false;
    return true;
  }

  #advanceText(): boolean {
    if (this.#dropsSpace) this.#pending = this.#pending.trimStart();
    const markers = [...this.#callMarkers(), ...this.#answerMarkers()];
    const { at, marker } = firstOf(this.#pending, markers);
    const end =
      marker === undefined
        ? this.#pending.length - longestPartialSuffix(this.#pending, markers)
        : at;
    const sure = this.#pending.slice(0, end);
    const text = markers.length === 0 ? sure : sure.trimEnd();
    this.#pending = this.#pending.slice(text.length);
    this.#emitText(text, this.#pending.length);
    if (marker === undefined) return false;
    const markerEnd = end - text.length + marker.length;
    const block = this.#blocks.find(
      ({ opening }) => "marker" in opening && opening.marker === marker,
    );
    if (block) this.#openBlock(block, markerEnd);
    else {
      this.#pending = this.#pending.slice(markerEnd);
      this.#dropsSpace = true;
    }
    return true;
  }

  #callMarkers(): readonly string[] {
    return this.#blocks.flatMap(({ opening }) => ("marker" in opening ? opening.marker : []));
  }

  #answerMarkers(): readonly string[] {
    return this.#hasThought ? (this.#thinking?.answer ?? []) : [];
  }

  // --- thinking ------------------------------------------------------------------------------

  #startThinking(): void {
    this.#mode = "thinking";
    this.#dropsSpace = true;
    this.#isAtStart = true;
  }

  /** Where the prompt had opened it, the model may do so again. */
  #advanceThoughtStart(): boolean {
    const { open } = this.#thinking as ThinkingMarkers;
    const thought = this.#pending.trimStart();
    if (thought.startsWith(open)) this.#pending = thought.slice(open.length);
    else if (open.startsWith(thought)) return false;
    this.#isAtStart = false;
    return true;
  }

  #advanceThinking(): boolean {
    const { close } = this.#thinking as ThinkingMarkers;
    if (this.#dropsSpace) this.#pending = this.#pending.trimStart();
    const at = this.#pending.indexOf(close);
    const end = at >= 0 ? at : this.#pending.length - longestPartialSuffix(this.#pending, [close]);
    const thought = this.#pending.slice(0, end).trimEnd();
    this.#emitThinking(thought, this.#pending.length - thought.length);
    if (at < 0) {
      this.#pending = this.#pending.slice(thought.length);
      return false;
    }
    this.#pending = this.#pending.slice(at + close.length);
    this.#mode = "text";
    this.#isAtStart = true;
    this.#dropsSpace = true;
    this.#canThink = false;
    this.#hasThought = true;
    return true;
  }

  #decide(): boolean {
    const text = this.#pending.trimStart();
    const { open } = this.#thinking as ThinkingMarkers;
    const callMarkers = this.#callMarkers();
    const words = [open, ...JSON_WORDS, ...callMarkers];
    if (words.some((word) => word.startsWith(text))) return false;
    const isCall = callMarkers.some((marker) => text.startsWith(marker));
    if (JSON_START.test(text) || isCall) this.#mode = "text";
    else this.#startThinking();
    return true;
  }

  // --- calls ---------------------------------------------------------------------------------

  /** @param end of the white space and the marker that open it, in the pending text */
  #openBlock(block: BlockSyntax, end: number): void {
    this.#mode = "calls";
    this.#isMarked = "marker" in block.opening;
    this.#calls = new CallBlock(block, this.#tools, this.#pending.slice(0, end), this.#emit);
    this.#pending = this.#pending.slice(end);
  }

  #advanceCalls(): boolean {
    const block = this.#calls as CallBlock;
    const isOver = block.push(this.#pending);
    this.#pending = "";
    if (!isOver) return false;
    this.#mode = "text";
    if (block.hasCall) {
      this.#isAtStart = true;
      this.#dropsSpace = true;
      this.#canThink = this.#thinking !== undefined;
    }
    if (block.isRejected) {
      this.#isAtStart = false;
      this.#emitText(block.rejectedMarkers, block.rest.length);
    }
    this.#pending = block.rest;
    return true;
  }

  /** What a marker opened and the token cap cut before it had a name is half a call, not text. */
  #finishCalls(wasCut: boolean): void {
    const rest = this.#calls?.finish() ?? "";
    if (wasCut && this.#isMarked && rest !== "") this.#emit({ type: "call_cut" });
    else this.#emitText(rest, 0);
  }

  /** @param numBehind characters that came behind it so far */
  #emitText(delta: string, numBehind: number): void {
    if (delta === "") return;
    this.#isAtStart = false;
    this.#dropsSpace = false;
    this.#emit({ type: "text", delta, end: this.#numPushed - numBehind });
  }

  /** @param numBehind characters that came behind it so far */
  #emitThinking(delta: string, numBehind: number): void {
    if (delta === "") return;
    this.#dropsSpace = false;
    this.#emit({ type: "reasoning", delta, end: this.#numPushed - numBehind });
  }
}

interface FoundMarker {
  readonly at: number;
  readonly marker: string | undefined;
}

/** Where the first of the markers starts and which it is; the longer one where two start. */
function firstOf(text: string, markers: readonly string[]): FoundMarker {
  let first: FoundMarker = { at: text.length, marker: undefined };
  for (const marker of markers) {
    const at = text.indexOf(marker);
    const isLonger = at === first.at && marker.length > (first.marker?.length ?? 0);
    if (at >= 0 && (at < first.at || isLonger)) first = { at, marker };
  }
  return first;
}
