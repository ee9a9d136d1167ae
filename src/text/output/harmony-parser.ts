/**
 * Splits harmony output, a row of messages
 * `<|start|>assistant<|channel|>analysis<|message|>...<|end|>`, into text, thinking and calls by
 * channel and recipient. The prompt ends behind `<|start|>assistant`, so the output starts inside the
 * first header. Markers never come out; a message to an unknown function comes out as text.
 */

import { JsonScanner } from "./json-scanner.ts";
import type { OfferedTool } from "./output-format.ts";
import type { ParsedEvent } from "./parsed-event.ts";
import { longestPartialSuffix } from "./stop-matcher.ts";

const MESSAGE = "<|message|>";
const CHANNEL = "<|channel|>";
export const HARMONY_MARKERS: readonly string[] = [
  MESSAGE,
  CHANNEL,
  "<|start|>",
  "<|end|>",
  "<|call|>",
  "<|return|>",
  "<|constrain|>",
];

const FUNCTIONS = "functions.";
const ROLE = "assistant";
const MAX_HEADER_LENGTH = 512;

type Body =
  | "text"
  | "thinking"
  | "call"
  /** Behind a call: white space means nothing. */
  | "tail";

export class HarmonyParser {
  readonly #names: ReadonlySet<string>;
  readonly #emit: (event: ParsedEvent) => void;
  #mode: "header" | "body" = "header";
  #body: Body = "text";
  #pending = "";
  /** Characters of all text so far; what is pending is their end. */
  #numPushed = 0;
  #isFirst = true;
  #name = "";
  #arguments: JsonScanner | undefined;

  constructor(tools: readonly OfferedTool[], emit: (event: ParsedEvent) => void) {
    this.#names = new Set(tools.map(({ name }) => name));
    this.#emit = emit;
  }

  get isThinking(): boolean {
    return this.#mode === "body" && this.#body === "thinking";
  }

  push(text: string): void {
    this.#pending += text;
    this.#numPushed += text.length;
    let hasAdvanced = true;
    while (hasAdvanced) {
      hasAdvanced = this.#mode === "header" ? this.#advanceHeader() : this.#advanceBody();
    }
  }

  finish(): void {
    if (this.#mode === "body") this.#pushBody(this.#pending, 0);
    else if (this.#isFirst && !this.#pending.includes("<|")) this.#emitText(this.#pending, 0);
    this.#pending = "";
  }

  // --- headers -------------------------------------------------------------------------------

  #advanceHeader(): boolean {
    const at = this.#pending.indexOf(MESSAGE);
    if (!couldBeHeader(at < 0 ? this.#pending : this.#pending.slice(0, at + MESSAGE.length - 1))) {
      // A model that forgets its form: better shown than lost.
      const marker = HARMONY_MARKERS.find((text) => this.#pending.startsWith(text)) ?? "";
      this.#pending = this.#pending.slice(marker.length);
      this.#startBody("text");
      return true;
    }
    if (at < 0) return false;
    const header = this.#pending.slice(0, at);
    this.#pending = this.#pending.slice(at + MESSAGE.length);
    const recipient = /to=([^\s<]+)/.exec(header)?.[1] ?? "";
    const channel = /<\|channel\|>\s*(\w+)/.exec(header)?.[1];
    this.#name = recipient.startsWith(FUNCTIONS) ? recipient.slice(FUNCTIONS.length) : recipient;
    if (this.#names.has(this.#name)) this.#startBody("call");
    else this.#startBody(channel === "analysis" ? "thinking" : "text");
    return true;
  }

  #startBody(body: Body): void {
    this.#mode = "body";
    this.#isFirst = false;
    this.#body = body;
    this.#arguments = undefined;
  }

  // --- bodies --------------------------------------------------------------------------------

  #advanceBody(): boolean {
    const ends = HARMONY_MARKERS.map((marker) => this.#pending.indexOf(marker));
    const found = ends.filter((at) => at >= 0);
    if (found.length === 0) {
      const length = this.#pending.length - longestPartialSuffix(this.#pending, HARMONY_MARKERS);
      this.#pushBody(this.#pending.slice(0, length), this.#pending.length - length);
      this.#pending = this.#pending.slice(length);
      return false;
    }
    const at = Math.min(...found);
    this.#pushBody(this.#pending.slice(0, at), this.#pending.length - at);
    const marker = HARMONY_MARKERS[ends.indexOf(at)] as string;
    // A channel names itself behind its marker: it is a part of the next header.
    this.#pending = this.#pending.slice(marker === CHANNEL ? at : at + marker.length);
    this.#mode = "header";
    return true;
  }

  /** @param numBehind characters that came behind the text so far */
  #pushBody(text: string, numBehind: number): void {
    if (text === "") return;
    switch (this.#body) {
      case "call":
        this.#pushArguments(text, numBehind);
        break;
      case "thinking":
        this.#emit({ type: "reasoning", delta: text, end: this.#numPushed - numBehind });
        break;
      case "tail":
        this.#pushTail(text, numBehind);
        break;
      case "text":
        this.#emitText(text, numBehind);
    }
  }

  #pushTail(text: string, numBehind: number): void {
    const rest = text.trimStart();
    if (rest === "") return;
    this.#body = "text";
    this.#emitText(rest, numBehind);
  }

  /** Up to the end of the JSON object; what stands behind it is no call's. */
  #pushArguments(text: string, numBehind: number): void {
    const rest = this.#arguments === undefined ? text.trimStart() : text;
    if (rest === "") return;
    if (this.#arguments === undefined) {
      if (!rest.startsWith("{")) {
        this.#body = "text";
        this.#emitText(rest, numBehind);
        return;
      }
      this.#arguments = new JsonScanner();
      this.#emit({ type: "call_start", name: this.#name });
    }
    const end = this.#scan(this.#arguments, rest);
    this.#emit({ type: "call_arguments", delta: rest.slice(0, end) });
    if (this.#arguments.state !== "end") return;
    this.#emit({ type: "call_end" });
    this.#body = "tail";
    this.#pushTail(rest.slice(end), numBehind);
  }

  /** How much of the text belongs to the arguments; a broken call keeps all of it. */
  #scan(scanner: JsonScanner, text: string): number {
    for (let at = 0; at < text.length; at++) {
      if (scanner.state === "invalid") break;
      scanner.push(text.charAt(at));
      if (scanner.state === "end") return at + 1;
    }
    return text.length;
  }

  #emitText(delta: string, numBehind: number): void {
    if (delta === "") return;
    this.#emit({ type: "text", delta, end: this.#numPushed - numBehind });
  }
}

/** Role, recipient and markers, or a beginning of them. */
function couldBeHeader(text: string): boolean {
  if (text.length > MAX_HEADER_LENGTH) return false;
  const marker = text.indexOf("<");
  const words = (marker < 0 ? text : text.slice(0, marker)).trimStart();
  if (marker < 0 && ROLE.startsWith(words)) return true;
  const recipient = words.startsWith(ROLE) ? words.slice(ROLE.length).trimStart() : words;
  const isRecipient = recipient === "" || /^to=[^\s<]*\s*$/.test(recipient);
  if (marker < 0) return isRecipient || "to=".startsWith(recipient);
  return isRecipient && startsMarker(text.slice(marker));
}

function startsMarker(text: string): boolean {
  return HARMONY_MARKERS.some((marker) => marker.startsWith(text) || text.startsWith(marker));
}
