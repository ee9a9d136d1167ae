/** A compaction as an output item and its events. */
import { randomId } from "../base/random-id.ts";
import { encodeSummary } from "../protocol/compaction-blob.ts";
import type { OutputCompaction, ResponseEventBody } from "../protocol/responses-types.ts";

export class OpenCompaction {
  readonly #send: (body: ResponseEventBody) => void;
  readonly #outputIndex: number;
  readonly #id = randomId("cmp");

  constructor(send: (body: ResponseEventBody) => void, outputIndex: number) {
    this.#send = send;
    this.#outputIndex = outputIndex;
    const output_index = outputIndex;
    this.#send({ type: "response.output_item.added", output_index, item: this.#item("") });
    this.#send({ type: "response.compaction.compacting", item_id: this.#id, output_index });
  }

  close(summary: string): OutputCompaction {
    const item = this.#item(encodeSummary(summary));
    this.#send({ type: "response.output_item.done", output_index: this.#outputIndex, item });
    return item;
  }

  #item(encrypted_content: string): OutputCompaction {
    return { id: this.#id, type: "compaction", encrypted_content };
  }
}
