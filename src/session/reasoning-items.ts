/**
 * Thinking of the model as output items and their events: the raw text, or the same text as one part
 * of a summary for clients that show summaries only.
 */
import { randomId } from "../base/random-id.ts";
import type {
  ItemStatus,
  OutputReasoning,
  ResponseEventBody,
} from "../protocol/responses-types.ts";
import type { OpenText } from "./text-items.ts";

export type ReasoningForm = "raw" | "summary";

export interface ReasoningOptions {
  readonly form: ReasoningForm;
  /** Makes the opaque copy that a finished item has; undefined: none was asked for. */
  readonly seal: ((text: string) => string) | undefined;
}

type Send = (body: ResponseEventBody) => void;

export class OpenReasoning implements OpenText {
  readonly #send: Send;
  readonly #options: ReasoningOptions;
  readonly #place: { readonly item_id: string; readonly output_index: number };
  #text = "";

  constructor(send: Send, outputIndex: number, options: ReasoningOptions) {
    this.#send = send;
    this.#options = options;
    this.#place = { item_id: randomId("rs"), output_index: outputIndex };
    const item: OutputReasoning = {
      id: this.#place.item_id,
      type: "reasoning",
      status: "in_progress",
      summary: [],
      ...(options.form === "raw" && { content: [] }),
    };
    this.#send({ type: "response.output_item.added", output_index: outputIndex, item });
    this.#sendPart("added");
  }

  push(delta: string): void {
    if (delta === "") return;
    this.#text += delta;
    if (this.#options.form === "raw") {
      const at = { ...this.#place, content_index: 0 };
      this.#send({ type: "response.reasoning_text.delta", ...at, delta });
    } else {
      const at = { ...this.#place, summary_index: 0 };
      this.#send({ type: "response.reasoning_summary_text.delta", ...at, delta });
    }
  }

  close(status: ItemStatus): OutputReasoning {
    const text = this.#text;
    if (this.#options.form === "raw") {
      this.#send({ type: "response.reasoning_text.done", ...this.#place, content_index: 0, text });
    } else {
      const at = { ...this.#place, summary_index: 0 };
      this.#send({ type: "response.reasoning_summary_text.done", ...at, text });
    }
    this.#sendPart("done");
    const item = this.#finished(status);
    const { output_index } = this.#place;
    this.#send({ type: "response.output_item.done", output_index, item });
    return item;
  }

  #sendPart(moment: "added" | "done"): void {
    const text = this.#text;
    if (this.#options.form === "raw") {
      const at = { ...this.#place, content_index: 0 };
      const part = { type: "reasoning_text", text } as const;
      this.#send({ type: `response.content_part.${moment}`, ...at, part });
    } else {
      const at = { ...this.#place, summary_index: 0 };
      const part = { type: "summary_text", text } as const;
      this.#send({ type: `response.reasoning_summary_part.${moment}`, ...at, part });
    }
  }

  #finished(status: ItemStatus): OutputReasoning {
    const text = this.#text;
    const { form, seal } = this.#options;
    return {
      id: this.#place.item_id,
      type: "reasoning",
      status,
      summary: form === "raw" ? [] : [{ type: "summary_text", text }],
      ...(form === "raw" && { content: [{ type: "reasoning_text", text }] }),
      ...(seal && { encrypted_content: seal(text) }),
    };
  }
}
