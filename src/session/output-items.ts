/**
 * Parsed model output to output items and their events. Items open and close one after the other;
 * an item keeps its id in every event and in the final output. A call is announced as done only
 * when it is whole, since clients run it at that moment; a half one is dropped.
 */
import type {
  CallableTool,
  ItemStatus,
  OutputCompaction,
  OutputItem,
  ResponseEventBody,
  TokenLogprob,
} from "../protocol/responses-types.ts";
import type { OutputEvent } from "../text/text-types.ts";
import { type OpenCall, openCall } from "./call-items.ts";
import { OpenCompaction } from "./compaction-item.ts";
import { OpenReasoning, type ReasoningOptions } from "./reasoning-items.ts";
import { OpenMessage, type OpenText } from "./text-items.ts";

export interface OutputOptions {
  /** Those that can be called. */
  readonly tools: readonly CallableTool[];
  readonly reasoning: ReasoningOptions;
}

export class OutputItems {
  readonly #send: (body: ResponseEventBody) => void;
  readonly #tools: ReadonlyMap<string, CallableTool>;
  readonly #reasoning: ReasoningOptions;
  readonly #items: OutputItem[] = [];
  #text: OpenText | undefined;
  #call: OpenCall | undefined;
  #compaction: OpenCompaction | undefined;
  #nextIndex = 0;
  /** White space that opens no message of its own. */
  #heldText = "";
  #heldLogprobs: readonly TokenLogprob[] = [];
  #hasDroppedCall = false;

  constructor(send: (body: ResponseEventBody) => void, { tools, reasoning }: OutputOptions) {
    this.#send = send;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#reasoning = reasoning;
  }

  /** Items finished so far. */
  get items(): readonly OutputItem[] {
    return [...this.#items];
  }

  get hasDroppedCall(): boolean {
    return this.#hasDroppedCall;
  }

  startCompaction(): void {
    this.#compaction = new OpenCompaction(this.#send, this.#nextIndex++);
  }

  finishCompaction(summary: string): OutputCompaction {
    if (!this.#compaction) throw new Error("no compaction was started");
    const item = this.#compaction.close(summary);
    this.#compaction = undefined;
    this.#items.push(item);
    return item;
  }

  push(events: readonly OutputEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case "text":
          this.#pushMessage(event.delta, event.logprobs);
          break;
        case "call_cut":
          this.#hasDroppedCall = true;
          break;
        case "reasoning":
          this.#pushReasoning(event.delta);
          break;
        case "call_start":
          this.#closeOpen("completed");
          this.#openCall(event.name);
          break;
        case "call_arguments":
          this.#call?.push(event.delta);
          break;
        case "call_end":
          if (this.#call) this.#items.push(this.#call.close());
          this.#call = undefined;
          break;
      }
    }
  }

  /** Ends the output; what is open closes as it stands. A finished turn has at least one item. */
  finish(status: "completed" | "incomplete"): void {
    const isOpen = this.#text !== undefined || this.#call !== undefined;
    const isEmpty = this.#items.length === 0 && !isOpen && !this.#hasDroppedCall;
    const isHeld = this.#heldText !== "" || this.#heldLogprobs.length > 0;
    if (isEmpty && (isHeld || status === "completed")) {
      this.#openMessage().push(this.#heldText, this.#heldLogprobs);
    }
    this.#closeOpen(status);
  }

  #pushMessage(delta: string, added: readonly TokenLogprob[] = []): void {
    if (this.#text instanceof OpenMessage) {
      this.#text.push(delta, added);
      return;
    }
    const text = this.#heldText + delta;
    const logprobs = [...this.#heldLogprobs, ...added];
    this.#heldText = text;
    this.#heldLogprobs = logprobs;
    if (text.trim() === "") return;
    this.#closeOpen("completed");
    this.#openMessage().push(text, logprobs);
  }

  #pushReasoning(delta: string): void {
    if (!(this.#text instanceof OpenReasoning)) {
      this.#closeOpen("completed");
      this.#text = new OpenReasoning(this.#send, this.#nextIndex++, this.#reasoning);
    }
    this.#text.push(delta);
  }

  #closeOpen(status: ItemStatus): void {
    if (this.#text) this.#items.push(this.#text.close(status));
    if (this.#call || this.#compaction) this.#hasDroppedCall = true;
    this.#text = undefined;
    this.#call = undefined;
    this.#heldText = "";
    this.#heldLogprobs = [];
  }

  #openMessage(): OpenText {
    this.#text = new OpenMessage(this.#send, this.#nextIndex++);
    return this.#text;
  }

  #openCall(name: string): void {
    this.#call = openCall(this.#send, name, this.#tools.get(name), this.#nextIndex++);
  }
}
