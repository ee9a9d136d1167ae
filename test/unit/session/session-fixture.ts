import { createMetrics } from "../../../src/metrics/metrics.ts";
import type {
  FunctionTool,
  MessageItem,
  ResponseEvent,
  ResponseObject,
  ResponsesRequest,
} from "../../../src/protocol/responses-types.ts";
import { NO_SENT_ITEMS } from "../../../src/protocol/sent-items.ts";
import { createSessionService, type SessionOptions } from "../../../src/session/session-service.ts";
import type { ConnectionState, TurnContext } from "../../../src/session/session-types.ts";
import { FakeClock } from "./fake-clock.ts";
import { FakeEndpoint, type ScriptedTurn } from "./fake-endpoint.ts";
import { createFakeTextModel, IM_END } from "./fake-text-model.ts";

export function userMessage(text: string): MessageItem {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

export function makeRequest(overrides: Partial<ResponsesRequest> = {}): ResponsesRequest {
  return {
    model: "fake-model",
    input: [userMessage("What is the capital of France?")],
    inputItems: NO_SENT_ITEMS,
    instructions: null,
    previousResponseId: null,
    callableTools: [],
    tools: [],
    toolChoice: { mode: "auto" },
    parallelToolCalls: true,
    textFormat: { type: "text" },
    reasoningEffort: undefined,
    includesEncryptedReasoning: false,
    maxOutputTokens: null,
    temperature: undefined,
    topP: undefined,
    topK: undefined,
    minP: undefined,
    repeatPenalty: undefined,
    frequencyPenalty: undefined,
    presencePenalty: undefined,
    seed: undefined,
    stop: [],
    logitBias: new Map(),
    topLogprobs: undefined,
    store: false,
    compacts: false,
    compactThreshold: undefined,
    truncation: "disabled",
    background: false,
    stream: true,
    generate: true,
    metadata: {},
    echo: {},
    ...overrides,
  };
}

export const weatherTool: FunctionTool = {
  type: "function",
  name: "get_weather",
  description: "Weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } } },
  strict: false,
  path: "tools[0]",
};

/** A script that says `text` word by word. */
export function says(text: string, overrides: ScriptedTurn = {}): ScriptedTurn {
  const words = text.match(/\s*\S+\s*$|\s*\S+/g) ?? [];
  return { steps: words.map((delta) => [{ type: "text", delta }]), ...overrides };
}

/** A script that calls functions, one step a part. */
export function calls(
  ...named: readonly { readonly name: string; readonly arguments: readonly string[] }[]
): ScriptedTurn {
  return {
    steps: named.flatMap((call) => [
      [{ type: "call_start", name: call.name } as const],
      ...call.arguments.map((delta) => [{ type: "call_arguments", delta } as const]),
      [{ type: "call_end" } as const],
    ]),
  };
}

export interface RunResult {
  readonly response: ResponseObject;
  readonly events: readonly ResponseEvent[];
}

export interface FixtureOptions
  extends Pick<SessionOptions, "reasoningForm" | "echo" | "archive" | "composer"> {
  readonly contextTokens?: number;
}

export function createFixture({ contextTokens, ...options }: FixtureOptions = {}) {
  const clock = new FakeClock();
  const textModel = createFakeTextModel();
  const endpoint = new FakeEndpoint(
    (text) => Int32Array.from([...textModel.tokenizer.ids(text), IM_END]),
    contextTokens,
  );
  const metrics = createMetrics({ modelId: "fake-model" });
  const errors: unknown[] = [];
  const session = createSessionService({
    modelId: "fake-model",
    textModel,
    endpoint,
    metrics,
    clock,
    reportError: (error) => errors.push(error),
    ...options,
  });

  const contextOf = (overrides: Partial<TurnContext>): TurnContext => ({
    tenant: "default",
    transport: "sse",
    receivedBytes: 100,
    receivedMs: clock.nowMs(),
    ...overrides,
  });

  return {
    clock,
    textModel,
    tokenizer: textModel.tokenizer,
    template: textModel.chatTemplate,
    endpoint,
    metrics,
    errors,
    session,
    /** Starts a response; its events are filled in as they come. */
    start(
      request: Partial<ResponsesRequest>,
      context: Partial<TurnContext> = {},
      signal: AbortSignal = new AbortController().signal,
    ) {
      const events: ResponseEvent[] = [];
      const response = session.createResponse(
        makeRequest(request),
        contextOf(context),
        (event) => events.push(event),
        signal,
      );
      return { events, response };
    },
    async run(
      request: Partial<ResponsesRequest>,
      context: Partial<TurnContext> = {},
    ): Promise<RunResult> {
      const { events, response } = this.start(request, context);
      return { response: await response, events };
    },
    /** A socket: runs requests on its lanes. */
    connect(tenant = "default") {
      const connection: ConnectionState = session.openConnection(tenant);
      const context: Partial<TurnContext> = { tenant, transport: "ws", connection };
      return {
        connection,
        context,
        run: (request: Partial<ResponsesRequest>, streamId?: string) =>
          this.run(request, { ...context, ...(streamId !== undefined && { streamId }) }),
      };
    },
    /** Value of one metric line, 0 when it is absent. */
    async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
      const lines = (await metrics.render()).split("\n");
      const matches = lines.filter(
        (line) =>
          line.startsWith(`${name}{`) &&
          Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`)),
      );
      return matches.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    },
  };
}

export type Fixture = ReturnType<typeof createFixture>;

/** Lets promises that are already settled run their continuations. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
