import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../src/base/deferred.ts";
import { EngineError } from "../../../src/engine/endpoint.ts";
import { decodeSummary, encodeSummary } from "../../../src/protocol/compaction-blob.ts";
import { parseResponsesRequest } from "../../../src/protocol/responses-request.ts";
import type { OutputItem, ResponseEvent } from "../../../src/protocol/responses-types.ts";
import {
  createFixture,
  type Fixture,
  makeRequest,
  says,
  settled,
  userMessage,
} from "./session-fixture.ts";

const words = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${index}`).join(" ");

function promptOf(fixture: Fixture, index: number): string {
  const tokens = fixture.endpoint.requests[index]?.allTokens ?? [];
  return fixture.tokenizer.textOf(Int32Array.from(tokens));
}

function summaryOf(item: OutputItem | undefined): string | undefined {
  return item?.type === "compaction" ? decodeSummary(item.encrypted_content) : undefined;
}

const types = (events: readonly ResponseEvent[]) => events.map(({ type }) => type);

describe("the text of a compaction item", () => {
  it("comes back as it was, and not at all when it was changed", () => {
    const blob = encodeSummary("grüße \u{1f600}");
    expect(decodeSummary(blob)).toBe("grüße \u{1f600}");
    for (const other of ["", "AQ==", "nonsense", blob.slice(0, -4), `B${blob.slice(1)}`]) {
      expect(decodeSummary(other)).toBeUndefined();
    }
  });
});

describe("a compaction that a request asks for", () => {
  it("is its only output, and the chain goes on from it", async () => {
    const fixture = createFixture();
    const socket = fixture.connect();
    fixture.endpoint.script.push(says("An answer."), says("They spoke of France."), says("ok"));
    const first = await socket.run({ instructions: "Be brief.", input: [userMessage("question")] });
    const { response, events } = await socket.run({
      instructions: "Be brief.",
      previousResponseId: first.response.id,
      input: [{ type: "ignored" }],
      compacts: true,
    });
    expect(types(events)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.compaction.compacting",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(response.output).toHaveLength(1);
    expect(summaryOf(response.output[0])).toBe("They spoke of France.");
    expect(response.usage?.input_tokens_details.cached_tokens).toBeGreaterThan(0);
    const summarizing = promptOf(fixture, 1);
    expect(summarizing).toContain("An answer.");
    expect(summarizing).toContain("Summarize the conversation");
    await socket.run({
      instructions: "Be brief.",
      previousResponseId: response.id,
      input: [userMessage("and now?")],
    });
    const prompt = promptOf(fixture, 2);
    for (const text of ["Be brief.", "question", "They spoke of France.", "and now?"]) {
      expect(prompt).toContain(text);
    }
    expect(prompt).not.toMatch(/An answer\.|Summarize the conversation/);
  });

  it("can be sent back as the start of a new chain, and is summed up again with it", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("first summary"), says("ok"), says("second summary"));
    const { response } = await fixture.run({ compacts: true });
    const input = [...response.output, { role: "user", content: "go on" }];
    const parsed = parseResponsesRequest({ model: "fake-model", input, store: false }, "http");
    await fixture.run({ input: parsed.input });
    expect(promptOf(fixture, 1)).toMatch(/first summary[\s\S]*go on/);
    const again = await fixture.session.compact(
      makeRequest({ input: parsed.input }),
      { tenant: "default", transport: "http", receivedBytes: 1, receivedMs: 0 },
      () => undefined,
      new AbortController().signal,
    );
    expect(summaryOf(again.response.output[0])).toBe("second summary");
    expect(again.kept.map(({ content }) => content[0]?.text)).toEqual(["go on"]);
  });

  it("is cancelled and fails as any response does", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(
      { isEndless: true },
      { steps: [[]], failsAfterOutput: new EngineError("ERR_INTERNAL", "x") },
    );
    const cancellation = new AbortController();
    const running = fixture.start({ compacts: true }, { cancellation: cancellation.signal });
    await settled();
    cancellation.abort();
    expect((await running.response).status).toBe("cancelled");
    const failed = await fixture.run({ compacts: true });
    expect(failed.response).toMatchObject({ status: "failed", error: { code: "server_error" } });
    expect(fixture.clock.numTimers).toBe(0);
  });
});

describe("a context that is longer than its threshold", () => {
  it("is compacted before it is answered, and the chain goes on without its past", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says(words("told", 600)), says("They counted."), says("Fine."));
    fixture.endpoint.script.push(says("Again."));
    const compactThreshold = 1000;
    const first = await fixture.run({ store: true, input: [userMessage(words("asked", 10))] });
    const { response, events } = await fixture.run({
      store: true,
      compactThreshold,
      previousResponseId: first.response.id,
      input: [userMessage("how are you?")],
    });
    expect(response.output.map(({ type }) => type)).toEqual(["compaction", "message"]);
    expect(types(events).slice(0, 6)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.compaction.compacting",
      "response.output_item.done",
      "response.output_item.added",
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const [, summary, answer] = fixture.endpoint.requests;
    const numPrompt = (summary?.allTokens.length ?? 0) + (answer?.allTokens.length ?? 0);
    expect(response.usage?.input_tokens).toBe(numPrompt);
    expect(response.usage?.total_tokens).toBe(numPrompt + (response.usage?.output_tokens ?? 0));
    const answered = promptOf(fixture, 2);
    expect(answered).toMatch(/asked0[\s\S]*They counted\.[\s\S]*how are you\?/);
    expect(answered).not.toContain("told0");
    await fixture.run({
      compactThreshold,
      previousResponseId: response.id,
      input: [userMessage("good")],
    });
    expect(fixture.endpoint.requests).toHaveLength(4);
    expect(promptOf(fixture, 3)).toMatch(/They counted\.[\s\S]*Fine\.[\s\S]*good/);
  });

  it("stays as it is below the threshold, or when there is no past", async () => {
    const fixture = createFixture();
    const long = [userMessage(words("long", 700))];
    for (const request of [{ compactThreshold: 4000 }, { input: long, compactThreshold: 1000 }]) {
      fixture.endpoint.script.push(says("ok"));
      const { response } = await fixture.run(request);
      expect(response.output.map(({ type }) => type)).toEqual(["message"]);
    }
  });

  it("sums a long current turn up as well", async () => {
    const fixture = createFixture();
    fixture.endpoint.script.push(says("It counted."), says("ok"));
    const { response } = await fixture.run({
      compactThreshold: 1000,
      input: [
        userMessage("count"),
        { type: "function_call", call_id: "call_1", name: "count", arguments: "{}" },
        { type: "function_call_output", call_id: "call_1", output: words("n", 1500) },
      ],
    });
    expect(summaryOf(response.output[0])).toBe("It counted.");
    expect(promptOf(fixture, 1)).not.toContain("n0 ");
    expect(promptOf(fixture, 1)).toMatch(/count[\s\S]*It counted\./);
  });
});

it("a compaction whose client goes away says nothing more", async () => {
  const fixture = createFixture();
  const computing = createDeferred<void>();
  fixture.endpoint.script.push({ computing: computing.promise });
  const abort = new AbortController();
  const { events, response } = fixture.start({ compacts: true }, {}, abort.signal);
  await settled();
  abort.abort();
  computing.resolve();
  expect((await response).status).toBe("in_progress");
  expect(types(events).at(-1)).toBe("response.compaction.compacting");
});
