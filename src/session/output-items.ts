/**
 * Parsed model output to output items and their events. Items open and close one after the other;
 * an item keeps its id in every event and in the final output. A call is announced as done only
 * when it is whole, since clients run it at that moment; a half one is dropped.
 */
import { randomId } from "../base/random-id.ts";
import type {
  ItemStatus,
  OutputFunctionCall,
  OutputItem,
  OutputMessage,
  ResponseEventBody,
} from "../protocol/responses-types.ts";
import type { OutputEvent } from "../text/text-types.ts";

interface OpenMessage {
  readonly type: "message";
  readonly id: string;
  readonly outputIndex: number;
  text: string;
}

interface OpenCall {
  readonly type: "function_call";
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly outputIndex: number;
  arguments: string;
}

export class OutputItems {
  readonly #send: (body: ResponseEventBody) => void;
  readonly #items: OutputItem[] = [];
  #open: OpenMessage | OpenCall | undefined;
  #nextIndex = 0;
  /** White space that opens no message of its own. */
  #heldText = "";
  #hasDroppedCall = false;

  constructor(send: (body: ResponseEventBody) => void) {
    this.#send = send;
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
          this.#pushArguments(event.delta);
          break;
        case "call_end":
          if (this.#open?.type === "function_call") this.#closeCall(this.#open);
          break;
        case "reasoning":
          break;
      }
    }
  }

  /** Ends the output; what is open closes as it stands. A finished turn has at least one item. */
  finish(status: "completed" | "incomplete"): void {
    const isEmpty = this.#items.length === 0 && !this.#open && !this.#hasDroppedCall;
    if (isEmpty && (this.#heldText !== "" || status === "completed")) {
      this.#pushDelta(this.#openMessage(), this.#heldText);
    }
    this.#closeOpen(status);
  }

  #pushText(delta: string): void {
    if (this.#open?.type === "message") {
      this.#pushDelta(this.#open, delta);
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
    if (this.#open?.type === "message") this.#closeMessage(this.#open, status);
    else if (this.#open) {
      this.#hasDroppedCall = true;
      this.#open = undefined;
    }
  }

  // --- messages ------------------------------------------------------------------------------

  #openMessage(): OpenMessage {
    const open: OpenMessage = {
      type: "message",
      id: randomId("msg"),
      outputIndex: this.#nextIndex++,
      text: "",
    };
    this.#open = open;
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
    this.#open = undefined;
    this.#items.push(item);
    this.#send({ type: "response.output_text.done", ...partOf(open), text, logprobs: [] });
    this.#send({ type: "response.content_part.done", ...partOf(open), part: textPart(text) });
    this.#send({ type: "response.output_item.done", output_index: outputIndex, item });
  }

  // --- calls ---------------------------------------------------------------------------------

  #openCall(name: string): void {
    const open: OpenCall = {
      type: "function_call",
      id: randomId("fc"),
      callId: randomId("call"),
      name,
      outputIndex: this.#nextIndex++,
      arguments: "",
    };
    this.#open = open;
    const item = callItem(open, "in_progress");
    this.#send({ type: "response.output_item.added", output_index: open.outputIndex, item });
  }

  #pushArguments(delta: string): void {
    const open = this.#open;
    if (open?.type !== "function_call" || delta === "") return;
    open.arguments += delta;
    this.#send({
      type: "response.function_call_arguments.delta",
      item_id: open.id,
      output_index: open.outputIndex,
      delta,
    });
  }

  #closeCall(open: OpenCall): void {
    const item = callItem(open, "completed");
    this.#open = undefined;
    this.#items.push(item);
    this.#send({
      type: "response.function_call_arguments.done",
      item_id: open.id,
      output_index: open.outputIndex,
      name: open.name,
      arguments: open.arguments,
    });
    this.#send({ type: "response.output_item.done", output_index: open.outputIndex, item });
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

function callItem(open: OpenCall, status: ItemStatus): OutputFunctionCall {
  const { id, type, callId, name } = open;
  return { id, type, status, call_id: callId, name, arguments: open.arguments };
}
