/**
 * One block of calls, from behind its opening to its end. Emits the calls; says what of its text was
 * no call and what came behind it.
 */

import type { CallReader } from "./call-reader.ts";
import { type BlockSyntax, callStart } from "./call-syntax.ts";
import { JsonCall } from "./json-call.ts";
import { LiteralCall } from "./literal-call.ts";
import { NamedCall } from "./named-call.ts";
import type { OfferedTool } from "./output-format.ts";
import type { ParsedEvent } from "./parsed-event.ts";
import { longestPartialSuffix } from "./stop-matcher.ts";
import { TaggedCall } from "./tagged-call.ts";

type Mode =
  /** A call is due. */
  | "head"
  | "call"
  /** A call has ended; another one or the end of the block is due. */
  | "between"
  /** An announced call broke; up to the end of the block the text still counts as its arguments. */
  | "broken"
  | "over";

export class CallBlock {
  readonly #syntax: BlockSyntax;
  readonly #tools: ReadonlyMap<string, OfferedTool>;
  readonly #emit: (event: ParsedEvent) => void;
  #mode: Mode = "head";
  #pending = "";
  #call: CallReader | undefined;
  #isAnnounced = false;
  #hasCall = false;
  #isInList = false;
  /** Markers since the last call, and what came behind them before a call was announced. */
  #lead: string;
  #unsure = "";
  #isRejected = false;

  /** @param opening text of the block's opening, which is text should no call follow */
  constructor(
    syntax: BlockSyntax,
    tools: ReadonlyMap<string, OfferedTool>,
    opening: string,
    emit: (event: ParsedEvent) => void,
  ) {
    this.#syntax = syntax;
    this.#tools = tools;
    this.#lead = opening;
    this.#emit = emit;
  }

  /** A call was announced. */
  get hasCall(): boolean {
    return this.#hasCall;
  }

  /** Once the block is over: what should have been a call is none. */
  get isRejected(): boolean {
    return this.#isRejected;
  }

  /** The markers in front of what was rejected: text that is not to be looked at again. */
  get rejectedMarkers(): string {
    return this.#isRejected ? this.#lead : "";
  }

  /** Once the block is over: the text behind it. */
  get rest(): string {
    return this.#pending;
  }

  /** True when the block is over. */
  push(text: string): boolean {
    this.#pending += text;
    let hasAdvanced = true;
    while (hasAdvanced) hasAdvanced = this.#advance();
    return this.#mode === "over";
  }

  /** The output has ended inside the block: what of it is text. */
  finish(): string {
    if (this.#mode === "broken") this.#emitArguments(this.#pending);
    const isText =
      this.#mode === "call" ? !this.#isAnnounced : this.#mode === "head" && !this.#hasCall;
    return isText ? this.#lead + this.#unsure + this.#pending : "";
  }

  #advance(): boolean {
    switch (this.#mode) {
      case "head":
        return this.#advanceHead();
      case "call":
        return this.#advanceCall();
      case "between":
        return this.#advanceBetween();
      case "broken":
        return this.#advanceBroken();
      case "over":
        return false;
    }
  }

  #advanceHead(): boolean {
    const text = this.#pending.trimStart();
    this.#unsure += this.#pending.slice(0, this.#pending.length - text.length);
    this.#pending = text;
    if (text === "") return false;
    if (!this.#isInList && text.startsWith("[")) {
      this.#isInList = true;
      this.#lead += `${this.#unsure}[`;
      this.#unsure = "";
      this.#pending = text.slice(1);
      return true;
    }
    this.#call = this.#createReader(text.charAt(0));
    this.#isAnnounced = false;
    this.#mode = "call";
    return true;
  }

  /** Behind a marker every family may write its calls as JSON objects. */
  #createReader(firstCharacter: string): CallReader {
    const { form, alternative, opening } = this.#syntax;
    const names = new Set(this.#tools.keys());
    const isBare = "leading" in opening;
    const isOwn = form.kind === "named" && form.prefix.startsWith("{");
    if (alternative !== undefined && firstCharacter !== "{") {
      return new LiteralCall(alternative, names);
    }
    if (form.kind === "json" || (firstCharacter === "{" && !isOwn && !isBare)) {
      return new JsonCall(names, isBare);
    }
    if (form.kind === "named") return new NamedCall(form, names);
    return form.kind === "tagged"
      ? new TaggedCall(form, this.#tools)
      : new LiteralCall(form, names);
  }

  #advanceCall(): boolean {
    const call = this.#call as CallReader;
    for (let at = 0; at < this.#pending.length; at++) {
      call.push(this.#pending.charAt(at));
      if (!this.#isAnnounced) this.#announce(call);
      if (call.status !== "open") {
        this.#emitArguments(call.takeArguments());
        this.#leaveCall(call, at);
        return true;
      }
    }
    this.#emitArguments(call.takeArguments());
    if (!this.#isAnnounced) this.#unsure += this.#pending;
    this.#pending = "";
    return false;
  }

  #announce(call: CallReader): void {
    const name = call.takeName();
    if (name === undefined) return;
    this.#isAnnounced = true;
    this.#hasCall = true;
    this.#emit({ type: "call_start", name });
  }

  /** @param at index in the pending text of the character that ended or broke the call */
  #leaveCall(call: CallReader, at: number): void {
    switch (call.status) {
      case "complete":
        this.#endCall(at + 1);
        break;
      case "broken-end":
        this.#endCall(at);
        break;
      case "broken-arguments":
        this.#mode = "broken";
        this.#pending = this.#pending.slice(at);
        break;
      default:
        this.#mode = "over";
        this.#isRejected = true;
        this.#pending = this.#unsure + this.#pending;
    }
  }

  #endCall(end: number): void {
    this.#emit({ type: "call_end" });
    this.#mode = "between";
    this.#pending = this.#pending.slice(end);
    this.#lead = "";
    this.#unsure = "";
  }

  #advanceBetween(): boolean {
    const { form, close } = this.#syntax;
    const separators = [...this.#syntax.separators, ...(this.#isInList ? [","] : [])];
    const fillers = [...this.#syntax.ignored, ...(this.#isInList ? ["]"] : [])];
    const starts = close === undefined ? [callStart(form)] : [callStart(form), "{"];
    const expected = [...separators, ...fillers, close, ...starts].filter((t) => t !== undefined);
    const text = this.#pending.trimStart();
    const found = expected.find((literal) => text.startsWith(literal));
    if (found === undefined) {
      if (expected.some((literal) => literal.startsWith(text))) return false;
      this.#mode = "over";
      return true;
    }
    // The start of a call is its reader's.
    const isStart = starts.includes(found);
    this.#pending = isStart ? text : text.slice(found.length);
    if (found === close) this.#mode = "over";
    else if (isStart || separators.includes(found)) this.#mode = "head";
    if (separators.includes(found)) this.#lead = found;
    return true;
  }

  #advanceBroken(): boolean {
    const { opening, close } = this.#syntax;
    const next = "marker" in opening ? opening.marker : undefined;
    const end = close ?? next;
    const at = end === undefined ? -1 : this.#pending.indexOf(end);
    if (end === undefined || at < 0) {
      const numHeld = end === undefined ? 0 : longestPartialSuffix(this.#pending, [end]);
      const length = this.#pending.length - numHeld;
      this.#emitArguments(this.#pending.slice(0, length));
      this.#pending = this.#pending.slice(length);
      return false;
    }
    this.#emitArguments(this.#pending.slice(0, at));
    this.#pending = this.#pending.slice(close === undefined ? at : at + close.length);
    this.#mode = "over";
    return true;
  }

  #emitArguments(delta: string): void {
    if (delta !== "") this.#emit({ type: "call_arguments", delta });
  }
}
