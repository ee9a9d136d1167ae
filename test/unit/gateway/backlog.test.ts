import { expect, test } from "vitest";
import { DeltaMerger } from "../../../src/gateway/backlog.ts";
import type { ResponseEvent, TokenLogprob } from "../../../src/protocol/responses-types.ts";

function delta(text: string, sequence_number: number): ResponseEvent {
  const logprobs: TokenLogprob[] = [{ token: text, bytes: [], logprob: -1, top_logprobs: [] }];
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  return { type: "response.output_text.delta", ...place, delta: text, logprobs, sequence_number };
}

test("merged deltas keep the log probabilities of all of them", () => {
  const sent: ResponseEvent[] = [];
  const merger = new DeltaMerger(
    () => true,
    (event) => sent.push(event),
  );
  for (const [index, text] of ["a", "b", "c"].entries()) merger.push(delta(text, index));
  merger.flush();
  expect(sent).toMatchObject([
    { delta: "abc", logprobs: [{ token: "a" }, { token: "b" }, { token: "c" }] },
  ]);
});
