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
