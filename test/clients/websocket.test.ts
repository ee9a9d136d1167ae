/** The SDK's WebSocket class: chains on one socket, and what a second turn costs. */
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  FRANCE,
  finalResponse,
  ITALY,
  type SdkFixture,
  SdkSocket,
  startSdkFixture,
  textOf,
} from "./sdk-fixture.ts";

let sdk: SdkFixture;
beforeAll(async () => {
  sdk = await startSdkFixture();
});
afterAll(() => sdk?.[Symbol.asyncDispose]());

async function withSocket<T>(use: (socket: SdkSocket) => Promise<T>): Promise<T> {
  const socket = new SdkSocket(sdk.client);
  try {
    return await use(socket);
  } finally {
    socket.close();
  }
}

test.each([FRANCE, ITALY])("$question", async ({ question, answer }) => {
  await withSocket(async (socket) => {
    const events = await socket.create({ model: sdk.model, input: question, temperature: 0 });
    expect(textOf(finalResponse(events))).toBe(answer);
    const deltas = events.map((event) =>
      event.type === "response.output_text.delta" ? event.delta : "",
    );
    expect(deltas.join("")).toBe(answer);
  });
});

test("a second turn on the socket sends and computes its new items only", async () => {
  await withSocket(async (socket) => {
    const settings = { model: sdk.model, temperature: 0, store: false };
    const filler = "The sea was calm and the boats were small. ".repeat(12);
    const first = finalResponse(
      await socket.create({ ...settings, input: filler + FRANCE.question, max_output_tokens: 16 }),
    );
    const prefillLabels = { transport: "ws", why: "prompt" };
    const before = {
      received: await sdk.metric("warmloop_rx_bytes_total", { transport: "ws" }),
      prefilled: await sdk.metric("warmloop_prefill_tokens_total", prefillLabels),
      tokenized: await sdk.metric("warmloop_tokenized_tokens_total", { transport: "ws" }),
    };
    const second = finalResponse(
      await socket.create({
        ...settings,
        input: ITALY.question,
        previous_response_id: first.id,
        max_output_tokens: 16,
      }),
    );
    const received =
      (await sdk.metric("warmloop_rx_bytes_total", { transport: "ws" })) - before.received;
    const prefilled =
      (await sdk.metric("warmloop_prefill_tokens_total", prefillLabels)) - before.prefilled;
    const tokenized =
      (await sdk.metric("warmloop_tokenized_tokens_total", { transport: "ws" })) - before.tokenized;
    // All of the first turn but its last sampled token, whose KV was never computed.
    const firstTotal = first.usage?.total_tokens ?? 0;
    expect(second.usage?.input_tokens_details).toEqual({
      cached_tokens: firstTotal - 1,
      cache_write_tokens: 0,
    });
    expect(prefilled).toBe((second.usage?.input_tokens ?? 0) - (firstTotal - 1));
    expect(prefilled).toBeLessThan(40);
    expect(tokenized).toBeLessThan(40);
    expect(received).toBeLessThan(300);
  });
});

test("a warmup with the same prefix is joined, and its id can be continued", async () => {
  await withSocket(async (socket) => {
    const settings = { model: sdk.model, temperature: 0, store: false };
    const developer = { role: "developer", content: "Answer in one short sentence." };
    const warmup = finalResponse(
      await socket.create({ ...settings, input: [developer], generate: false }),
    );
    expect(warmup).toMatchObject({ status: "completed", output: [], usage: { output_tokens: 0 } });
    const answer = finalResponse(
      await socket.create({
        ...settings,
        input: FRANCE.question,
        previous_response_id: warmup.id,
        max_output_tokens: 32,
      }),
    );
    expect(answer.previous_response_id).toBe(warmup.id);
    expect(answer.usage?.input_tokens).toBeGreaterThan(warmup.usage?.input_tokens ?? 0);
    expect(answer.usage?.input_tokens_details.cached_tokens).toBeGreaterThan(0);
  });
});

test("an id of another socket with store:false is not found, and the socket stays usable", async () => {
  const settings = { model: sdk.model, temperature: 0, store: false };
  const first = await withSocket(async (socket) =>
    finalResponse(await socket.create({ ...settings, input: FRANCE.question })),
  );
  await withSocket(async (socket) => {
    const continued = { ...settings, input: ITALY.question, previous_response_id: first.id };
    await expect(socket.create(continued)).rejects.toMatchObject({
      error: { status: 400, error: { code: "previous_response_not_found" } },
    });
    const fresh = finalResponse(await socket.create({ ...settings, input: ITALY.question }));
    expect(textOf(fresh)).toBe(ITALY.answer);
  });
});
