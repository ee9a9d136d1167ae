/** Log probabilities and biases from the request to the engine, and back into events and items. */
import { describe, expect, it } from "vitest";
import type { OutputEvent, TokenLogprob } from "../../../src/text/text-types.ts";
import { calls, createFixture, makeRequest } from "./session-fixture.ts";

function entry(token: string): TokenLogprob {
  return { token, bytes: [...Buffer.from(token)], logprob: -1, top_logprobs: [] };
}

function text(delta: string, ...tokens: readonly string[]): OutputEvent {
  return { type: "text", delta, logprobs: tokens.map(entry) };
}

describe("log probabilities", () => {
  it("are asked of the engine where the request wants them, and else not", async () => {
    const fixture = createFixture();
    await fixture.run({ topLogprobs: 3 });
    await fixture.run({});
    const [first, second] = fixture.endpoint.requests;
    expect(first?.request.logprobs).toEqual({ numTop: 3, scope: "text" });
    expect(second?.request).not.toHaveProperty("logprobs");
  });

  it("come with their deltas, and all of them with the text", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push({
      steps: [[text("Hel")], [text("lo", "Hello")], [text("", "!")]],
    });
    const { events, response } = await fixture.run({ topLogprobs: 0 });
    const all = ["Hello", "!"].map(entry);
    const deltas = events.flatMap((event) =>
      event.type === "response.output_text.delta" ? [[event.delta, event.logprobs]] : [],
    );
    expect(deltas).toEqual([
      ["Hel", []],
      ["lo", all.slice(0, 1)],
      ["", all.slice(1)],
    ]);
    const done = events.find((event) => event.type === "response.output_text.done");
    expect(done).toMatchObject({ text: "Hello", logprobs: all });
    expect(response.output[0]).toMatchObject({ content: [{ text: "Hello", logprobs: all }] });
  });

  it("wait with white space that may open no message, and go with it", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push({ steps: [[text("\n", "\n")], [text("Hi", "Hi")]] });
    const { response } = await fixture.run({ topLogprobs: 0 });
    expect(response.output[0]).toMatchObject({
      content: [{ text: "\nHi", logprobs: [entry("\n"), entry("Hi")] }],
    });
    const [call] = calls({ name: "f", arguments: ["{}"] }).steps ?? [];
    fixture.endpoint.script.push({
      steps: [[text("\n", "\n")], call ?? [], [{ type: "call_end" }]],
    });
    const { response: other } = await fixture.run({ topLogprobs: 0 });
    expect(other.output).toMatchObject([{ type: "function_call" }]);
  });

  it("of tokens without text come too, where there is nothing else", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push({ steps: [[text("", "<half>")]], finish: "length" });
    const { response } = await fixture.run({ topLogprobs: 0 });
    expect(response.output[0]).toMatchObject({
      status: "incomplete",
      content: [{ text: "", logprobs: [entry("<half>")] }],
    });
  });

  it("of a completion are those of every token, and of its prompt where it is repeated", async () => {
    const fixture = createFixture();
    const prompt = { path: "prompt", text: "The river", parseSpecial: false };
    const request = makeRequest({ topLogprobs: 2 });
    const context = {
      tenant: "default",
      transport: "http" as const,
      receivedBytes: 1,
      receivedMs: 0,
    };
    for (const echo of [false, true]) {
      fixture.endpoint.script.push({ steps: [[text("The river"), text(" bends")]] });
      const completion = { prompt, request, seeds: [1, 2], echo };
      const [run] = await fixture.session.prepareCompletion(completion);
      await run?.(context, () => undefined, new AbortController().signal);
    }
    const [first, second] = fixture.endpoint.requests.map(({ request: turn }) => turn);
    expect(first).toMatchObject({
      logprobs: { numTop: 2, scope: "output" },
      sampling: { seed: 1 },
    });
    expect(second).toMatchObject({ logprobs: { numTop: 2, scope: "prompt" } });
  });
});

describe("biases", () => {
  it("reach the sampler by token", async () => {
    const fixture = createFixture();
    await fixture.run({
      logitBias: new Map([
        [7, -100],
        [9, 0.5],
      ]),
    });
    expect(fixture.endpoint.requests[0]?.request.sampling.logitBias).toEqual({
      tokens: Int32Array.of(7, 9),
      values: Float64Array.of(-100, 0.5),
    });
  });

  it("of a token that the model does not have are refused by name", async () => {
    const fixture = createFixture();
    const run = fixture.run({ logitBias: new Map([[1_000_000, 1]]) });
    await expect(run).rejects.toThrow(
      expect.objectContaining({
        status: 400,
        body: expect.objectContaining({ param: "logit_bias.1000000", code: "invalid_value" }),
      }),
    );
  });
});
