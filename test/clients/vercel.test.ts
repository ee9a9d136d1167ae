/** The Vercel AI SDK over HTTP, through both of its OpenAI models. */
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { FRANCE, ITALY, type SdkFixture, startSdkFixture } from "./sdk-fixture.ts";

let sdk: SdkFixture;
let provider: ReturnType<typeof createOpenAI>;
beforeAll(async () => {
  sdk = await startSdkFixture();
  provider = createOpenAI({ baseURL: sdk.client.baseURL, apiKey: "none" });
});
afterAll(() => sdk?.[Symbol.asyncDispose]());

describe.each(["responses", "chat"] as const)("through %s", (api) => {
  const settings = () => ({ model: provider[api](sdk.model), temperature: 0, maxRetries: 0 });

  test("a text", async () => {
    const { text, finishReason, usage } = await generateText({
      ...settings(),
      prompt: FRANCE.question,
    });
    expect([text, finishReason]).toEqual([FRANCE.answer, "stop"]);
    expect(usage.totalTokens).toBe((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
  });

  test("a streamed text", async () => {
    const result = streamText({ ...settings(), prompt: ITALY.question });
    let text = "";
    for await (const delta of result.textStream) text += delta;
    expect(text).toBe(ITALY.answer);
    expect(await result.finishReason).toBe("stop");
  });

  const weather = (execute: (input: { city: string }) => string) =>
    tool({
      description: "Weather of a city",
      inputSchema: z.object({ city: z.enum(["Oslo", "Rome"]) }),
      execute,
    });

  test.each(["whole", "streamed"])("a tool loop, %s", async (form) => {
    const execute = vi.fn(({ city }: { city: string }) => `${city}: 4 C, rain`);
    const request = {
      ...settings(),
      prompt: "What is the weather in Oslo?",
      tools: { get_weather: weather(execute) },
      providerOptions: { openai: { parallelToolCalls: false } },
      maxOutputTokens: 200,
      stopWhen: stepCountIs(2),
      prepareStep: ({ stepNumber }: { stepNumber: number }) => ({
        toolChoice: stepNumber === 0 ? ("required" as const) : ("none" as const),
      }),
    };
    const steps =
      form === "whole" ? (await generateText(request)).steps : await streamedSteps(request);
    expect(execute).toHaveBeenCalledOnce();
    expect(steps.map(({ toolCalls }) => toolCalls.length)).toEqual([1, 0]);
    expect(steps[1]?.text).not.toBe("");
    expect(steps[1]?.usage.inputTokenDetails.cacheReadTokens).toBeGreaterThan(0);
  });

  async function streamedSteps(request: Parameters<typeof streamText>[0]) {
    const result = streamText(request);
    await result.consumeStream();
    return await result.steps;
  }

  test("an object in a schema", async () => {
    const schema = z.object({ city: z.string().max(20), isCapital: z.boolean() });
    const { output } = await generateText({
      ...settings(),
      prompt: "Is Paris a capital?",
      output: Output.object({ schema }),
    });
    expect(schema.safeParse(output).success).toBe(true);
  });

  test("an error has the server's code", async () => {
    const request = { ...settings(), model: provider[api]("gpt-99"), prompt: "hi" };
    await expect(generateText(request)).rejects.toMatchObject({
      statusCode: 404,
      data: { error: { code: "model_not_found" } },
    });
  });
});
