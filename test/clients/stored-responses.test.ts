/** Stored responses through the SDK: retrieve, list, cancel, delete, background streams and compaction. */
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FRANCE, type SdkFixture, startSdkFixture } from "./sdk-fixture.ts";

let sdk: SdkFixture;
beforeAll(async () => {
  sdk = await startSdkFixture();
});
afterAll(() => sdk?.[Symbol.asyncDispose]());

const ask = () => ({ model: sdk.model, input: FRANCE.question, temperature: 0 });

test("a response is retrieved as it was, lists its input and is deleted", async () => {
  const { responses } = sdk.client;
  const created = await responses.create(ask());
  const include = ["reasoning.encrypted_content" as const];
  expect((await responses.retrieve(created.id, { include })).output_text).toBe(FRANCE.answer);
  const items = [];
  for await (const item of responses.inputItems.list(created.id, { order: "asc", limit: 1 })) {
    items.push(item);
  }
  expect(items).toMatchObject([{ type: "message", role: "user" }]);
  await responses.delete(created.id);
  await expect(responses.retrieve(created.id)).rejects.toThrow(OpenAI.NotFoundError);
});

test("a background response streams, and is followed from where its client was", async () => {
  const { responses } = sdk.client;
  const stream = await responses.create({ ...ask(), background: true, stream: true });
  let id = "";
  let last = 0;
  for await (const event of stream) {
    if (event.type === "response.created") id = event.response.id;
    last = event.sequence_number;
    if (event.type === "response.in_progress") break;
  }
  const texts: string[] = [];
  const rest = await responses.retrieve(id, { stream: true, starting_after: last });
  for await (const event of rest) {
    expect(event.sequence_number).toBe(++last);
    if (event.type === "response.output_text.delta") texts.push(event.delta);
  }
  expect(texts.join("")).toBe(FRANCE.answer);
  expect((await responses.retrieve(id)).status).toBe("completed");
  await expect(responses.cancel(id)).rejects.toThrow(OpenAI.ConflictError);
});

test("a background response is cancelled", async () => {
  const { responses } = sdk.client;
  const request = { ...ask(), input: "Count to a thousand.", background: true };
  const { id } = await responses.create({ ...request, max_output_tokens: 4000 });
  expect((await responses.cancel(id)).status).toBe("cancelled");
  expect((await responses.retrieve(id)).status).toBe("cancelled");
});

test("a compacted conversation starts a new one", async () => {
  const { responses } = sdk.client;
  const first = await responses.create(ask());
  const compacted = await responses.compact({ model: sdk.model, previous_response_id: first.id });
  expect(compacted.output.map(({ type }) => type)).toEqual(["message", "compaction"]);
  expect(compacted.usage.output_tokens).toBeGreaterThan(0);
  const next = await responses.create({
    model: sdk.model,
    input: [
      ...compacted.output,
      { role: "user", content: "Go on." },
    ] as OpenAI.Responses.ResponseInput,
    max_output_tokens: 8,
  });
  expect(next.usage?.input_tokens).toBeGreaterThan(compacted.usage.output_tokens);
});
