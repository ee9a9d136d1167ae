/** Clients that send their whole history: what is found of it, and that nothing else changes. */
import { describe, expect, it } from "vitest";
import type { ContextItem, ResponseObject } from "../../../src/protocol/responses-types.ts";
import { outputToInput } from "../../../src/session/context-items.ts";
import { createFixture, type Fixture, says, userMessage } from "./session-fixture.ts";

/** The history of a client that does not send ids back. */
function historyOf(input: readonly ContextItem[], { output }: ResponseObject) {
  const answers = outputToInput(output).map(({ id: _, ...item }) => item as ContextItem);
  return [...input, ...answers];
}

const QUESTION = userMessage("What is the capital of France?");
const NEXT = userMessage("And of Norway?");

async function firstTurn(fixture: Fixture, tenant = "default") {
  fixture.endpoint.script.push(says("It is Paris."));
  const { response } = await fixture.run({ input: [QUESTION] }, { tenant });
  return historyOf([QUESTION], response);
}

describe("a whole history", () => {
  it("goes on from the lane that has it: its new items are rendered, tokenized and computed", async () => {
    const fixture = createFixture();
    const history = await firstTurn(fixture);
    fixture.tokenizer.encodedTexts.length = 0;
    const { response } = await fixture.run({ input: [...history, NEXT] });
    const suffix =
      "<|im_end|>\n<|im_start|>user\nAnd of Norway?<|im_end|>\n<|im_start|>assistant\n";
    expect(fixture.tokenizer.encodedTexts[0]).toBe(suffix);
    expect(fixture.endpoint.requests[1]?.request.continueFrom).toBeDefined();
    expect(response.usage?.input_tokens_details.miss_reason).toBeUndefined();
    const rendered = await fixture.metric("warmloop_rendered_tokens_total");
    const numGenerated = 5; // its end is rendered, too
    expect(rendered).toBe((fixture.endpoint.requests[1]?.allTokens.length ?? 0) - numGenerated);
  });

  it("is found when the socket that it came from is gone", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("It is Paris."));
    const socket = fixture.connect();
    const { response } = await socket.run({ input: [QUESTION] });
    socket.connection.close();
    const history = historyOf([QUESTION], response);
    await fixture.connect().run({ input: [...history, NEXT] });
    expect(fixture.endpoint.requests[1]?.request).toMatchObject({ fork: false });
    expect(fixture.endpoint.requests[1]?.request.continueFrom).toBeDefined();
  });

  it("branches off a lane whose socket is open", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("It is Paris."), says("Oslo."), says("Rome."));
    const socket = fixture.connect();
    const { response } = await socket.run({ input: [QUESTION] });
    await fixture.connect().run({ input: [...historyOf([QUESTION], response), NEXT] });
    await socket.run({ previousResponseId: response.id });
    const uses = fixture.endpoint.requests.map(
      ({ request }) => request.continueFrom && request.fork,
    );
    expect(uses).toEqual([undefined, true, false]);
  });

  it("goes on from the last turn that it shares with a lane", async () => {
    const fixture = createFixture();
    const first = await firstTurn(fixture);
    fixture.endpoint.script.push(says("Oslo."));
    await fixture.run({ input: [...first, NEXT] });
    fixture.tokenizer.encodedTexts.length = 0;
    await fixture.run({ input: [...first, userMessage("And of Italy?")] });
    expect(fixture.tokenizer.encodedTexts[0]).not.toContain("Paris");
  });

  it("is another one under other instructions, or with an edited answer", async () => {
    const fixture = createFixture();
    const history = await firstTurn(fixture);
    const edited: ContextItem = {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "It is Lyon." }],
    };
    await fixture.run({ input: [...history, NEXT], instructions: "Be brief." });
    await fixture.run({ input: [QUESTION, edited, NEXT] });
    for (const { request } of fixture.endpoint.requests.slice(1)) {
      expect(request.continueFrom).toBeUndefined();
    }
  });

  it("is nobody else's", async () => {
    const fixture = createFixture();
    const history = await firstTurn(fixture);
    const { response } = await fixture.run({ input: [...history, NEXT] }, { tenant: "another" });
    expect(fixture.endpoint.requests[1]?.request.continueFrom).toBeUndefined();
    expect(response.usage?.input_tokens_details.miss_reason).toBe("cold");
  });

  it("is encoded anew where the model spelled its answer in other tokens", async () => {
    const fixture = createFixture();
    const [pa, ris, dot] = ["Pa", "ris", "."].map((piece) => fixture.tokenizer.piece(piece));
    const tokens = [pa ?? 0, ris ?? 0, dot ?? 0, 2];
    fixture.endpoint.script.push(says("Paris.", { tokens }));
    const { response } = await fixture.run({ input: [QUESTION] });
    await fixture.run({ input: [...historyOf([QUESTION], response), NEXT] });
    const again = fixture.endpoint.requests[1];
    expect(again?.request.continueFrom).toBeUndefined();
    expect(again?.allTokens).toContain(fixture.tokenizer.piece("Paris."));
  });
});
