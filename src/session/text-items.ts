/**
 * Messages of the model as output items and their events: items of one part whose text streams. An
 * open item says what it gets; closing it gives the finished item.
 */
import { randomId } from "../base/random-id.ts";
import type {
  ItemStatus,
  OutputItem,
  OutputMessage,
  ResponseEventBody,
  TokenLogprob,
} from "../protocol/responses-types.ts";

export interface OpenText {
  push(delta: string, logprobs?: readonly TokenLogprob[]): void;
  close(status: ItemStatus): OutputItem;
}

type Send = (body: ResponseEventBody) => void;

/** Where an item's only part is. */
interface PartPlace {
  readonly item_id: string;
  readonly output_index: number;
  readonly content_index: number;
}

export class OpenMessage implements OpenText {
  readonly #send: Send;
  readonly #place: PartPlace;
  #text = "";
  readonly #logprobs: TokenLogprob[] = [];

  constructor(send: Send, outputIndex: number) {
    this.#send = send;
    this.#place = { item_id: randomId("msg"), output_index: outputIndex, content_index: 0 };
    const item: OutputMessage = { ...this.#item("in_progress"), content: [] };
    this.#send({ type: "response.output_item.added", output_index: outputIndex, item });
    this.#send({ type: "response.content_part.added", ...this.#place, part: messagePart("", []) });
  }

  push(delta: string, logprobs: readonly TokenLogprob[] = []): void {
    if (delta === "" && logprobs.length === 0) return;
    this.#text += delta;
    this.#logprobs.push(...logprobs);
    this.#send({ type: "response.output_text.delta", ...this.#place, delta, logprobs });
  }

  close(status: ItemStatus): OutputMessage {
    const item = this.#item(status);
    const part = this.#part();
    const { text, logprobs } = part;
    const { output_index } = this.#place;
    this.#send({ type: "response.output_text.done", ...this.#place, text, logprobs });
    this.#send({ type: "response.content_part.done", ...this.#place, part });
    this.#send({ type: "response.output_item.done", output_index, item });
    return item;
  }

  #item(status: ItemStatus): OutputMessage {
    const id = this.#place.item_id;
    return { id, type: "message", role: "assistant", status, content: [this.#part()] };
  }

  #part(): MessagePart {
    return messagePart(this.#text, [...this.#logprobs]);
  }
}

type MessagePart = OutputMessage["content"][number];

function messagePart(text: string, logprobs: readonly TokenLogprob[]): MessagePart {
  return { type: "output_text", text, annotations: [], logprobs };
}
