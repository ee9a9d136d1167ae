/**
 * Parsed model output to output items and their events. Items open and close one after the other;
 * an item keeps its id in every event and in the final output. A call is announced as done only
 * when it is whole, since clients run it at that moment; a half one is dropped.
 */
import { randomId } from "../base/random-id.ts";
import type {
  ItemStatus,
  OutputItem,
  OutputMessage,
  ResponseEventBody,
} from "../protocol/responses-types.ts";
import type { OutputEvent } from "../text/text-types.ts";
import { type OpenCall, OpenCustomCall, OpenFunctionCall } from "./call-items.ts";

interface OpenMessage {
  readonly type: "message";
  readonly id: string;
  readonly outputIndex: number;
  text: string;
}

export class OutputItems {
  readonly #send: (body: ResponseEventBody) => void;
  readonly #customNames: ReadonlySet<string>;
  readonly #items: OutputItem[] = [];
  #message: OpenMessage | undefined;
  #call: OpenCall | undefined;
  #nextIndex = 0;
  /** White space that opens no message of its own. */
  #heldText = "";
  #hasDroppedCall = false;

  /** @param customNames tools whose calls carry a text instead of JSON arguments */
  constructor(send: (body: ResponseEventBody) => void, customNames: ReadonlySet<string>) {
    this.#send = send;
    this.#customNames = customNames;
  }

  /** Items finished so far. */
  get items(): readonly OutputItem[] {
    return [...this.#items];
  }

  get hasDroppedCall(): boolean {
    return this.#hasDroppedCall;
  }

  push(events: readonly OutputEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case "text":
          this.#pushText(event.delta);
          break;
        case "call_start":
          this.#closeOpen("completed");
          this.#heldText = "";
          this.#openCall(event.name);
          break;
        case "call_arguments":
          this.#call?.push(event.delta);
          break;
        case "call_end":
          if (this.#call) this.#items.push(this.#call.close());
          this.#call = undefined;
          break;
        case "reasoning":
          break;
      }
    }
  }

  /** Ends the output; what is open closes as it stands. A finished turn has at least one item. */
  finish(status: "completed" | "incomplete"): void {
    const isOpen = this.#message !== undefined || this.#call !== undefined;
    const isEmpty = this.#items.length === 0 && !isOpen && !this.#hasDroppedCall;
    if (isEmpty && (this.#heldText !== "" || status === "completed")) {
      this.#pushDelta(this.#openMessage(), this.#heldText);
    }
    this.#closeOpen(status);
  }

  #pushText(delta: string): void {
    if (this.#message) {
      this.#pushDelta(this.#message, delta);
      return;
    }
    this.#heldText += delta;
    if (this.#heldText.trim() === "") return;
    this.#closeOpen("completed");
    const text = this.#heldText;
    this.#heldText = "";
    this.#pushDelta(this.#openMessage(), text);
  }

  #closeOpen(status: ItemStatus): void {
    if (this.#message) this.#closeMessage(this.#message, status);
    if (this.#call) this.#hasDroppedCall = true;
    this.#call = undefined;
  }

  #openMessage(): OpenMessage {
    const open: OpenMessage = {
      type: "message",
      id: randomId("msg"),
      outputIndex: this.#nextIndex++,
      text: "",
    };
    this.#message = open;
    const item: OutputMessage = { ...messageItem(open, "in_progress"), content: [] };
    this.#send({ type: "response.output_item.added", output_index: open.outputIndex, item });
    this.#send({ type: "response.content_part.added", ...partOf(open), part: textPart("") });
    return open;
  }

  #pushDelta(open: OpenMessage, delta: string): void {
    if (delta === "") return;
    open.text += delta;
    this.#send({ type: "response.output_text.delta", ...partOf(open), delta, logprobs: [] });
  }

  #closeMessage(open: OpenMessage, status: ItemStatus): void {
    const { text, outputIndex } = open;
    const item = messageItem(open, status);
    this.#message = undefined;
    this.#items.push(item);
    this.#send({ type: "response.output_text.done", ...partOf(open), text, logprobs: [] });
    this.#send({ type: "response.content_part.done", ...partOf(open), part: textPart(text) });
    this.#send({ type: "response.output_item.done", output_index: outputIndex, item });
  }

  #openCall(name: string): void {
    const Call = this.#customNames.has(name) ? OpenCustomCall : OpenFunctionCall;
    this.#call = new Call(this.#send, name, this.#nextIndex++);
  }
}

function partOf(open: OpenMessage) {
  return { item_id: open.id, output_index: open.outputIndex, content_index: 0 };
}

function textPart(text: string): OutputMessage["content"][number] {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function messageItem(open: OpenMessage, status: ItemStatus): OutputMessage {
  const { id, type, text } = open;
  return { id, type, role: "assistant", status, content: [textPart(text)] };
}
