/** Chat Completions through the SDK: whole, streamed, with usage and with tools. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FRANCE, ITALY, type SdkFixture, startSdkFixture } from "./sdk-fixture.ts";

let sdk: SdkFixture;
beforeAll(async () => {
  sdk = await startSdkFixture();
});
afterAll(() => sdk?.[Symbol.asyncDispose]());

function chat(content: string) {
  return { model: sdk.model, temperature: 0, messages: [{ role: "user" as const, content }] };
}

describe.each([FRANCE, ITALY])("$question", ({ question, answer }) => {
  test("whole", async () => {
    const completion = await sdk.client.chat.completions.create(chat(question));
    expect(completion.choices[0]?.message.content).toBe(answer);
    expect(completion.choices[0]?.finish_reason).toBe("stop");
    expect(completion.usage?.total_tokens).toBe(
      (completion.usage?.prompt_tokens ?? 0) + (completion.usage?.completion_tokens ?? 0),
    );
  });

  test("streamed, through the stream helper", async () => {
    const stream = sdk.client.chat.completions.stream({
      ...chat(question),
      stream_options: { include_usage: true },
    });
    expect(await stream.finalContent()).toBe(answer);
    const usage = await stream.totalUsage();
    expect(usage.completion_tokens).toBeGreaterThan(0);
  });
});

test("log probabilities spell the answer, streamed as whole", async () => {
  const request = { ...chat(FRANCE.question), logprobs: true, top_logprobs: 2 };
  const whole = (await sdk.client.chat.completions.create(request)).choices[0]?.logprobs;
  const bytes = (whole?.content ?? []).flatMap((entry) => entry.bytes ?? []);
  expect(Buffer.from(bytes).toString()).toBe(FRANCE.answer);
  for (const { token, logprob, top_logprobs } of whole?.content ?? []) {
    expect(logprob).toBeLessThanOrEqual(0);
    expect(top_logprobs[0]).toMatchObject({ token, logprob }); // greedy: the most likely one
    expect(top_logprobs).toHaveLength(2);
  }
  const stream = sdk.client.chat.completions.stream(request);
  const streamed = (await stream.finalChatCompletion()).choices[0]?.logprobs;
  expect(streamed?.content).toEqual(whole?.content);
});

test("choices share their prompt, differ by seed, and come again with it", async () => {
  const long = `${"The boats were small and the sea was calm. ".repeat(8)}Write a line about it.`;
  const request = { ...chat(long), temperature: 1, seed: 3, n: 3, max_completion_tokens: 12 };
  const prefillTokens = () => sdk.metric("warmloop_prefill_tokens_total");
  const first = await sdk.client.chat.completions.create(request);
  const contents = first.choices.map(({ message }) => message.content);
  expect(new Set(contents).size).toBe(3);
  const prompt = first.usage?.prompt_tokens ?? 0;
  expect(first.usage?.total_tokens).toBe(prompt + (first.usage?.completion_tokens ?? 0));
  expect(await prefillTokens()).toBeLessThan(2 * prompt);
  const again = await sdk.client.chat.completions.stream(request).finalChatCompletion();
  expect(again.choices.map(({ message }) => message.content)).toEqual(contents);
  const alone = { ...request, seed: 5, n: 1 };
  const third = await sdk.client.chat.completions.create(alone);
  expect(third.choices[0]?.message.content).toBe(contents[2]);
});

test("greedy choices are equal; a bias changes them", async () => {
  const request = { ...chat(FRANCE.question), n: 2, logprobs: true };
  const { choices } = await sdk.client.chat.completions.create(request);
  expect(choices.map(({ message }) => message.content)).toEqual([FRANCE.answer, FRANCE.answer]);
  const firstTokens = await Promise.all([500, 501, 502].map((id) => biased({ [id]: 100 })));
  expect(new Set(firstTokens).size).toBe(3);
});

/** The one token that an answer then has. */
async function biased(logit_bias: Record<string, number>): Promise<string> {
  const request = { ...chat(FRANCE.question), logit_bias, max_completion_tokens: 1 };
  const completion = await sdk.client.chat.completions.create(request);
  return completion.choices[0]?.message.content ?? "";
}

describe("runTools", () => {
  function weatherTool(cities: string[]) {
    return {
      type: "function" as const,
      function: {
        name: "get_weather",
        description: "Weather of a city",
        strict: true,
        parameters: {
          type: "object",
          properties: { city: { enum: ["Oslo", "Rome"] } },
          required: ["city"],
          additionalProperties: false,
        },
        parse: (text: string) => JSON.parse(text) as { readonly city: string },
        function: ({ city }: { readonly city: string }) => {
          cities.push(city);
          return "4 C, rain";
        },
      },
    };
  }

  test("calls a named function once", async () => {
    const cities: string[] = [];
    const runner = sdk.client.chat.completions.runTools({
      ...chat("Use the tool to look the weather of Oslo up."),
      tool_choice: { type: "function", function: { name: "get_weather" } },
      tools: [weatherTool(cities)],
    });
    await runner.done();
    expect(cities).toHaveLength(1);
    expect(runner.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  });

  test("goes on with the results, streamed, as often as it may", async () => {
    const cities: string[] = [];
    const runner = sdk.client.chat.completions.runTools(
      {
        ...chat("Use the tool to look the weather of Oslo up."),
        stream: true,
        tool_choice: "required",
        parallel_tool_calls: false,
        tools: [weatherTool(cities)],
      },
      { maxChatCompletions: 2 },
    );
    await runner.done();
    expect(cities).toHaveLength(2);
    const round = ["assistant", "tool"];
    expect(runner.messages.map(({ role }) => role)).toEqual(["user", ...round, ...round]);
  });
});

test("the token cap is kept and reported", async () => {
  const completion = await sdk.client.chat.completions.create({
    ...chat("Count upwards from one, in words."),
    max_completion_tokens: 5,
  });
  expect(completion.usage?.completion_tokens).toBe(5);
  expect(completion.choices[0]?.finish_reason).toBe("length");
});

test("a conversation with a finished tool round is taken, streamed as whole", async () => {
  const request = {
    model: sdk.model,
    temperature: 0,
    max_completion_tokens: 24,
    tools: [
      {
        type: "function" as const,
        function: { name: "get_weather", description: "Weather of a city", parameters: {} },
      },
    ],
    messages: [
      { role: "user" as const, content: "What is the weather in Oslo?" },
      {
        role: "assistant" as const,
        content: null,
        tool_calls: [
          {
            id: "call_1",
            type: "function" as const,
            function: { name: "get_weather", arguments: '{"city":"Oslo"}' },
          },
        ],
      },
      { role: "tool" as const, tool_call_id: "call_1", content: "4 C, rain" },
    ],
  };
  const whole = await sdk.client.chat.completions.create(request);
  const streamed = await sdk.client.chat.completions.stream(request).finalChatCompletion();
  const [wholeChoice] = whole.choices;
  const [streamedChoice] = streamed.choices;
  expect(streamedChoice?.message.content ?? "").toBe(wholeChoice?.message.content ?? "");
  expect(streamedChoice?.finish_reason).toBe(wholeChoice?.finish_reason);
  expect(streamedChoice?.message.tool_calls?.length ?? 0).toBe(
    wholeChoice?.message.tool_calls?.length ?? 0,
  );
});
