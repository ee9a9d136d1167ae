/** Raw prompts: what reaches the engine, what comes back, and what is refused beforehand. */
import { describe, expect, it } from "vitest";
import type { CompletionPrompt } from "../../../src/protocol/completion-types.ts";
import type { ResponseEvent, ResponsesRequest } from "../../../src/protocol/responses-types.ts";
import { createFixture, type Fixture, makeRequest, says } from "./session-fixture.ts";

const TEXT: CompletionPrompt = { path: "prompt", text: "The river bends", parseSpecial: false };

async function complete(
  fixture: Fixture,
  prompt: CompletionPrompt,
  fields: Partial<ResponsesRequest> = {},
  echo = false,
) {
  const request = makeRequest({ input: [], maxOutputTokens: 16, ...fields });
  const seeds = [undefined];
  const [run] = await fixture.session.prepareCompletion({ prompt, request, seeds, echo });
  const events: ResponseEvent[] = [];
  const context = {
    tenant: "default",
    transport: "http" as const,
    receivedBytes: 10,
    receivedMs: fixture.clock.nowMs(),
  };
  const emit = (event: ResponseEvent) => events.push(event);
  if (run === undefined) throw new Error("one seed gives one run");
  const response = await run(context, emit, new AbortController().signal);
  const [item] = response.output;
  return { response, events, text: item?.type === "message" ? item.content[0]?.text : undefined };
}

describe("a completion", () => {
  it("runs its text as it is: no template, no tools, and a space at its start stays", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says(" and goes on."));
    const numProbes = fixture.template.numRenders;
    const { text, response } = await complete(fixture, TEXT);
    expect(text).toBe(" and goes on.");
    const [submitted] = fixture.endpoint.requests;
    expect(submitted?.allTokens).toEqual([...fixture.tokenizer.ids(TEXT.text)]);
    expect(submitted?.request).toMatchObject({
      continuesText: true,
      maxOutputTokens: 16,
      keepSequence: false,
      prefillOnly: false,
    });
    expect(submitted?.request).not.toHaveProperty("outputFormat");
    expect(response.usage?.input_tokens).toBe(submitted?.allTokens.length);
    expect(fixture.template.numRenders).toBe(numProbes);
  });

  it("runs token ids as they are", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("x"));
    await complete(fixture, { path: "prompt", tokenIds: [7, 8, 9] });
    expect(fixture.endpoint.requests[0]?.allTokens).toEqual([7, 8, 9]);
    expect(await fixture.metric("warmloop_tokenized_tokens_total")).toBe(0);
  });

  it("repeats its prompt in front of the output when asked", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says(" and."));
    const { text, events } = await complete(fixture, TEXT, {}, true);
    expect(text).toBe("The river bends and.");
    const deltas = events.flatMap((event) => ("delta" in event ? [event.delta] : []));
    expect(deltas).toEqual(["The river bends", " and."]);
  });

  it("only reads its prompt when nothing is to be generated", async () => {
    const fixture = createFixture();
    const fields = { maxOutputTokens: 0, generate: false };
    const { text, response } = await complete(fixture, TEXT, fields, true);
    expect(fixture.endpoint.requests[0]?.request).toMatchObject({ prefillOnly: true });
    expect(text).toBe(TEXT.text);
    expect(response.usage).toMatchObject({ output_tokens: 0 });
  });

  it("finds the blocks of an equal prompt", async () => {
    const fixture = createFixture();
    const long = { ...TEXT, text: Array.from({ length: 40 }, (_, i) => `word${i}`).join(" ") };
    fixture.endpoint.script.push(says("a"), says("a"));
    await complete(fixture, long);
    const { response } = await complete(fixture, long);
    expect(response.usage?.input_tokens_details.cached_tokens).toBe(64);
    expect(fixture.endpoint.numLiveSequences).toBe(0);
  });
});

describe("refused before anything runs", () => {
  const prepare = (prompt: CompletionPrompt, contextTokens?: number) => {
    const fixture = createFixture(contextTokens === undefined ? {} : { contextTokens });
    const request = makeRequest();
    return fixture.session.prepareCompletion({ prompt, request, seeds: [undefined], echo: false });
  };

  it.each([
    ["no tokens", { path: "prompt[1]", text: "", parseSpecial: false }, "prompt[1]"],
    ["an id beyond the vocabulary", { path: "prompt", tokenIds: [1, 1_000_000] }, "prompt[1]"],
    ["a negative id", { path: "prompt[0]", tokenIds: [-1] }, "prompt[0][0]"],
  ])("%s", async (_what, prompt, param) => {
    await expect(prepare(prompt)).rejects.toThrow(
      expect.objectContaining({ status: 400, body: expect.objectContaining({ param }) }),
    );
  });

  it("a prompt that leaves no room", async () => {
    await expect(prepare(TEXT, 3)).rejects.toThrow(
      expect.objectContaining({
        status: 400,
        body: expect.objectContaining({ code: "context_length_exceeded" }),
      }),
    );
  });
});
