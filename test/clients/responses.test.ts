/** Responses through the SDK: JSON, SSE, the strict stream helper, and chains over HTTP. */
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FRANCE, ITALY, type SdkFixture, startSdkFixture } from "./sdk-fixture.ts";

let sdk: SdkFixture;
beforeAll(async () => {
  sdk = await startSdkFixture();
});
afterAll(() => sdk?.[Symbol.asyncDispose]());

const greedy = { temperature: 0 };

test("the model is listed", async () => {
  const ids = [];
  for await (const model of sdk.client.models.list()) ids.push(model.id);
  expect(ids).toEqual([sdk.model]);
  expect((await sdk.client.models.retrieve(sdk.model)).id).toBe(sdk.model);
});

test("log probabilities spell the answer, in the events and in the response", async () => {
  const request = {
    model: sdk.model,
    input: FRANCE.question,
    ...greedy,
    include: ["message.output_text.logprobs" as const],
    top_logprobs: 1,
  };
  const events = [];
  for await (const event of await sdk.client.responses.create({ ...request, stream: true })) {
    events.push(event);
  }
  const streamed = events.flatMap((event) =>
    event.type === "response.output_text.delta" ? event.logprobs : [],
  );
  const { output, top_logprobs } = await sdk.client.responses.create(request);
  const [part] = output.flatMap((item) => (item.type === "message" ? item.content : []));
  const logprobs = part?.type === "output_text" ? (part.logprobs ?? []) : [];
  expect(streamed).toEqual(logprobs);
  expect(Buffer.from(logprobs.flatMap(({ bytes }) => bytes)).toString()).toBe(FRANCE.answer);
  expect(logprobs.every((entry) => entry.top_logprobs.length === 1)).toBe(true);
  expect(top_logprobs).toBe(1);
});

describe.each([FRANCE, ITALY])("$question", ({ question, answer }) => {
  test("as JSON", async () => {
    const response = await sdk.client.responses.create({
      model: sdk.model,
      input: question,
      ...greedy,
    });
    expect(response.output_text).toBe(answer);
    expect(response.status).toBe("completed");
    const { input_tokens, output_tokens, total_tokens } = response.usage ?? {};
    expect(input_tokens).toBeGreaterThan(0);
    expect(total_tokens).toBe((input_tokens ?? 0) + (output_tokens ?? 0));
  });

  test("as events", async () => {
    const request = { model: sdk.model, input: question, ...greedy, stream: true } as const;
    const events = [];
    for await (const event of await sdk.client.responses.create(request)) events.push(event);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events[0]?.type).toBe("response.created");
    const deltas = events.map((event) =>
      event.type === "response.output_text.delta" ? event.delta : "",
    );
    expect(deltas.join("")).toBe(answer);
    const last = events.at(-1);
    expect(last?.type === "response.completed" && last.response.status).toBe("completed");
  });

  test("through the stream helper, which checks every event", async () => {
    const stream = sdk.client.responses.stream({ model: sdk.model, input: question, ...greedy });
    const response = await stream.finalResponse();
    expect(response.output_text).toBe(answer);
  });
});

test("a chain over HTTP reuses what was computed", async () => {
  const first = await sdk.client.responses.create({
    model: sdk.model,
    input: FRANCE.question,
    ...greedy,
  });
  const second = await sdk.client.responses.create({
    model: sdk.model,
    input: ITALY.question,
    previous_response_id: first.id,
    ...greedy,
  });
  expect(second.previous_response_id).toBe(first.id);
  expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.total_tokens ?? 0);
  expect(second.usage?.input_tokens_details.cached_tokens).toBeGreaterThanOrEqual(
    first.usage?.input_tokens ?? 0,
  );
});

test("input tokens can be counted beforehand", async () => {
  const request = { model: sdk.model, input: FRANCE.question };
  const { input_tokens } = await sdk.client.responses.inputTokens.count(request);
  const response = await sdk.client.responses.create({ ...request, ...greedy });
  expect(input_tokens).toBe(response.usage?.input_tokens);
});

test("the token cap ends a response as incomplete, in the stream helper too", async () => {
  const stream = sdk.client.responses.stream({
    model: sdk.model,
    input: FRANCE.question,
    max_output_tokens: 3,
    ...greedy,
  });
  const response = await stream.finalResponse();
  expect(response.status).toBe("incomplete");
  expect(response.incomplete_details?.reason).toBe("max_output_tokens");
  expect(response.usage?.output_tokens).toBe(3);
});

test("function tools and their results are taken, and echoed over HTTP", async () => {
  const tools = [
    {
      type: "function" as const,
      name: "get_weather",
      description: "Weather of a city",
      parameters: { type: "object", properties: { city: { type: "string" } } },
      strict: false,
    },
  ];
  const response = await sdk.client.responses.create({
    model: sdk.model,
    tools,
    input: [
      { role: "user", content: "What is the weather in Oslo?" },
      {
        type: "function_call",
        call_id: "call_1",
        name: "get_weather",
        arguments: '{"city":"Oslo"}',
      },
      { type: "function_call_output", call_id: "call_1", output: "4 C, rain" },
    ],
    max_output_tokens: 24,
    ...greedy,
  });
  expect(response.tools).toEqual(tools);
  expect(["completed", "incomplete"]).toContain(response.status);
});

test("errors arrive as the SDK's own classes, with code and param", async () => {
  const ask = (fields: object) =>
    sdk.client.responses.create({ model: sdk.model, input: "hi", ...fields } as never);
  await expect(ask({ model: "gpt-99" })).rejects.toMatchObject({
    constructor: OpenAI.NotFoundError,
    code: "model_not_found",
  });
  await expect(ask({ temperature: 3 })).rejects.toMatchObject({
    constructor: OpenAI.BadRequestError,
    code: "invalid_value",
    param: "temperature",
  });
  await expect(ask({ conversation: "conv_1" })).rejects.toMatchObject({
    code: "unsupported_parameter",
  });
  await expect(ask({ previous_response_id: "resp_none" })).rejects.toMatchObject({
    code: "previous_response_not_found",
  });
  await expect(ask({ input: "word ".repeat(20_000) })).rejects.toMatchObject({
    code: "context_length_exceeded",
  });
});

test("a client that leaves in mid-stream frees the engine for the next one", async () => {
  const request = {
    model: sdk.model,
    input: "Write a long story about a lighthouse.",
    max_output_tokens: 2000,
    stream: true,
    ...greedy,
  } as const;
  const stream = await sdk.client.responses.create(request);
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") break;
  }
  await expect
    .poll(() => sdk.metric("vllm:request_success_total", { finished_reason: "abort" }))
    .toBe(1);
  const { output_text } = await sdk.client.responses.create({
    model: sdk.model,
    input: FRANCE.question,
    ...greedy,
  });
  expect(output_text).toBe(FRANCE.answer);
});
