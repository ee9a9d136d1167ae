/**
 * Splits model output into text and calls of the ChatML/Hermes form
 * `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`.
 *
 * It works on characters, so its events, joined, do not depend on how the text arrived. A block that
 * is no call of an allowed function comes out as the text it is. Once a call is announced its arguments
 * stream; a call that breaks or is cut inside them gets no `call_end`. Whitespace between a call and
 * its neighbours is dropped: rendering puts it back.
 */

import { HermesCall } from "./hermes-call.ts";
import { longestPartialSuffix } from "./stop-matcher.ts";
import type { OutputEvent } from "./text-types.ts";
import { CALL_CLOSE, CALL_OPEN } from "./tool-blocks.ts";

type Mode =
  | "text"
  /** Behind the opening marker. */
  | "call"
  /** The call has ended; its closing marker is due. */
  | "closing"
  /** The announced call broke; up to the closing marker the text still counts as its arguments. */
  | "broken";

export class HermesParser {
  readonly #allowedNames: ReadonlySet<string>;
  readonly #emit: (event: OutputEvent) => void;
  #mode: Mode = "text";
  /** Text that is not decided yet. */
  #pending = "";
  #call: HermesCall;
  #isAnnounced = false;
  /** The open block: whitespace and marker, and the text behind them until the call is announced. */
  #opening = "";
  #block = "";
  /** Nothing but whitespace came since the last call. */
  #isBehindCall = false;

  constructor(allowedNames: ReadonlySet<string>, emit: (event: OutputEvent) => void) {
    this.#allowedNames = allowedNames;
    this.#emit = emit;
    this.#call = new HermesCall(allowedNames);
  }

  push(text: string): void {
    this.#pending += text;
    let hasAdvanced = true;
    while (hasAdvanced) hasAdvanced = this.#advance();
  }

  finish(): void {
    if (this.#mode === "text") this.#emitText(this.#pending);
    else if (this.#mode === "call" && !this.#isAnnounced)
      this.#emitText(this.#opening + this.#block);
    else if (this.#mode === "broken") this.#emitArguments(this.#pending);
    this.#pending = "";
  }

  /** One step of the current mode; false when more text is needed. */
  #advance(): boolean {
    switch (this.#mode) {
      case "text":
        return this.#advanceText();
      case "call":
        return this.#advanceCall();
      case "closing":
        return this.#advanceClosing();
      case "broken":
        return this.#advanceBroken();
    }
  }

  #advanceText(): boolean {
    if (this.#isBehindCall) this.#pending = this.#pending.trimStart();
    const at = this.#pending.indexOf(CALL_OPEN);
    const end =
      at >= 0 ? at : this.#pending.length - longestPartialSuffix(this.#pending, [CALL_OPEN]);
    const text = this.#pending.slice(0, end).trimEnd();
    this.#emitText(text);
    if (at < 0) {
      this.#pending = this.#pending.slice(text.length);
      return false;
    }
    this.#opening = this.#pending.slice(text.length, at + CALL_OPEN.length);
    this.#block = "";
    this.#pending = this.#pending.slice(at + CALL_OPEN.length);
    this.#call = new HermesCall(this.#allowedNames);
    this.#isAnnounced = false;
    this.#mode = "call";
    return true;
  }

  #advanceCall(): boolean {
    for (let at = 0; at < this.#pending.length; at++) {
      this.#call.push(this.#pending.charAt(at));
      if (!this.#isAnnounced) this.#announce();
      if (this.#call.status !== "open") {
        this.#emitArguments(this.#call.takeArguments());
        this.#leaveCall(at);
        return true;
      }
    }
    this.#emitArguments(this.#call.takeArguments());
    if (!this.#isAnnounced) this.#block += this.#pending;
    this.#pending = "";
    return false;
  }

  #announce(): void {
    const name = this.#call.takeName();
    if (name === undefined) return;
    this.#isAnnounced = true;
    this.#isBehindCall = true;
    this.#emit({ type: "call_start", name });
  }

  /** @param at index in the pending text of the character that ended or broke the call */
  #leaveCall(at: number): void {
    switch (this.#call.status) {
      case "complete":
        this.#emit({ type: "call_end" });
        this.#mode = "closing";
        this.#pending = this.#pending.slice(at + 1);
        break;
      case "broken-end":
        this.#emit({ type: "call_end" });
        this.#mode = "closing";
        this.#pending = this.#pending.slice(at);
        break;
      case "broken-arguments":
        this.#mode = "broken";
        this.#pending = this.#pending.slice(at);
        break;
      default:
        this.#mode = "text";
        this.#emitText(this.#opening);
        this.#pending = this.#block + this.#pending;
    }
  }

  #advanceClosing(): boolean {
    const text = this.#pending.trimStart();
    if (!text.startsWith(CALL_CLOSE) && CALL_CLOSE.startsWith(text)) return false;
    if (text.startsWith(CALL_CLOSE)) this.#pending = text.slice(CALL_CLOSE.length);
    this.#mode = "text";
    return true;
  }

  #advanceBroken(): boolean {
    const at = this.#pending.indexOf(CALL_CLOSE);
    if (at < 0) {
      const end = this.#pending.length - longestPartialSuffix(this.#pending, [CALL_CLOSE]);
      this.#emitArguments(this.#pending.slice(0, end));
      this.#pending = this.#pending.slice(end);
      return false;
    }
    this.#emitArguments(this.#pending.slice(0, at));
    this.#pending = this.#pending.slice(at + CALL_CLOSE.length);
    this.#mode = "text";
    return true;
  }

  #emitText(delta: string): void {
    if (delta === "") return;
    this.#isBehindCall = false;
    this.#emit({ type: "text", delta });
  }

  #emitArguments(delta: string): void {
    if (delta !== "") this.#emit({ type: "call_arguments", delta });
  }
}
