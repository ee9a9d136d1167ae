/** The agents SDK runs a tool loop over both transports: it resends its history at each step. */
import { Agent, type AgentInputItem, OpenAIProvider, Runner, tool } from "@openai/agents";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { type SdkFixture, startSdkFixture } from "./sdk-fixture.ts";

const TRANSPORTS = ["http", "ws"] as const;

let sdk: SdkFixture;
beforeAll(async () => {
  sdk = await startSdkFixture();
});
afterAll(() => sdk?.[Symbol.asyncDispose]());

beforeEach(() => {
  // The SDK's transport wants one that takes headers; Node has it from version 22 on.
  vi.stubGlobal("WebSocket", WebSocket);
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** Small models go on for long where nothing bounds an answer, and the SDK refuses one that is cut. */
const REPORT = z.object({ report: z.string().max(40) });

const weatherAsked = vi.fn(({ city }: { city: string }) => `${city}: 4 C, rain`);

/** Calls its tool first and answers then: a small model would go on calling. */
function weatherAgent() {
  const modelSettings = { parallelToolCalls: false, temperature: 0, maxTokens: 200 };
  const agent = new Agent({
    name: "Weather",
    instructions: "Answer in one short sentence.",
    model: sdk.model,
    modelSettings: { ...modelSettings, toolChoice: "required" },
    resetToolChoice: false,
    outputType: REPORT,
    tools: [
      tool({
        name: "get_weather",
        description: "Weather of a city",
        parameters: z.object({ city: z.enum(["Oslo", "Rome"]) }),
        execute: (input) => {
          agent.modelSettings = { ...modelSettings, toolChoice: "none" };
          return weatherAsked(input);
        },
      }),
    ],
  });
  return agent;
}

describe.each(TRANSPORTS)("over %s", (transport) => {
  async function withRunner<T>(use: (runner: Runner) => Promise<T>): Promise<T> {
    const modelProvider = new OpenAIProvider({
      // The provider's own copy of the SDK has another class of the same name.
      openAIClient: sdk.client as never,
      useResponses: true,
      useResponsesWebSocket: transport === "ws",
    });
    try {
      return await use(new Runner({ modelProvider, tracingDisabled: true }));
    } finally {
      await modelProvider.close();
    }
  }

  beforeEach(() => {
    weatherAsked.mockClear();
  });

  test("a forced call is run and its result answered", async () => {
    await withRunner(async (runner) => {
      const result = await runner.run(weatherAgent(), "What is the weather in Oslo?");
      expect(weatherAsked).toHaveBeenCalledOnce();
      expect(REPORT.safeParse(result.finalOutput).success).toBe(true);
      expect(result.rawResponses).toHaveLength(2);
      const types = result.newItems.map((item) => item.type);
      expect(types).toEqual(["tool_call_item", "tool_call_output_item", "message_output_item"]);
    });
  });

  test("the second step pays for its new tokens only", async () => {
    await withRunner(async (runner) => {
      const { rawResponses } = await runner.run(weatherAgent(), "Tell me the weather in Rome.");
      const [first, second] = rawResponses.map(({ usage }) => usage);
      const cached = (second?.inputTokensDetails ?? []).map((details) => details.cached_tokens);
      expect(cached[0]).toBeGreaterThanOrEqual((first?.inputTokens ?? 0) - 16);
    });
  });

  test("a run is streamed", async () => {
    await withRunner(async (runner) => {
      const stream = await runner.run(weatherAgent(), "How is it in Oslo?", { stream: true });
      let text = "";
      for await (const chunk of stream.toTextStream()) text += chunk;
      await stream.completed;
      expect(weatherAsked).toHaveBeenCalledOnce();
      expect(JSON.parse(text)).toEqual(stream.finalOutput);
    });
  });

  test("a second user turn continues from the history", async () => {
    await withRunner(async (runner) => {
      const first = await runner.run(weatherAgent(), "What is the weather in Oslo?");
      const input: AgentInputItem[] = [...first.history, { role: "user", content: "And in Rome?" }];
      const second = await runner.run(weatherAgent(), input);
      expect(weatherAsked).toHaveBeenCalledTimes(2);
      expect(second.history.length).toBe(input.length + 3);
    });
  });
});
