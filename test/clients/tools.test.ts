/**
 * Forced calls and JSON answers of the default model through the openai SDK: valid against their
 * schemas, and the same on every transport.
 */
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { judgeOf } from "../tools/judge.ts";
import { realTools } from "../tools/real-tools.ts";
import { finalResponse, type SdkFixture, SdkSocket, startSdkFixture } from "./sdk-fixture.ts";

let sdk: SdkFixture;
beforeAll(async () => {
  sdk = await startSdkFixture();
});
afterAll(() => sdk?.[Symbol.asyncDispose]());

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

const BOOK_TABLE: Tool = {
  name: "book_table",
  description: "Books a table in a restaurant.",
  inputSchema: {
    type: "object",
    properties: {
      city: { type: "string", maxLength: 20 },
      guests: { type: "integer", minimum: 1, maximum: 12 },
      seating: { enum: ["inside", "outside"] },
      date: { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" },
    },
    required: ["city", "guests", "seating", "date"],
    additionalProperties: false,
  },
};

const REAL_IDS = [
  "kubernetes/kubectl_context",
  "github/issue_read",
  "playwright/browser_resize",
  "filesystem/directory_tree",
];
const tools: readonly Tool[] = [BOOK_TABLE, ...realTools.filter(({ id }) => REAL_IDS.includes(id))];

interface Call {
  readonly name: string;
  readonly arguments: string;
}

const transports: Readonly<Record<string, (body: object) => Promise<OpenAI.Responses.Response>>> = {
  HTTP: (body) =>
    sdk.client.responses.create(body as OpenAI.Responses.ResponseCreateParamsNonStreaming),
  SSE: (body) =>
    sdk.client.responses
      .stream(body as Parameters<typeof sdk.client.responses.stream>[0])
      .finalResponse(),
  WebSocket: async (body) => {
    const socket = new SdkSocket(sdk.client);
    try {
      return finalResponse(await socket.create(body));
    } finally {
      socket.close();
    }
  },
};

function callsOf(response: OpenAI.Responses.Response): readonly Call[] {
  return response.output.flatMap((item) =>
    item.type === "function_call" ? [{ name: item.name, arguments: item.arguments }] : [],
  );
}

describe.each(tools.map((tool) => [tool.name, tool] as const))("%s", (name, tool) => {
  const { description, inputSchema } = tool;
  const isValid = judgeOf(inputSchema);
  const input = `Use the tool ${name}.`;
  const limits = { temperature: 0, max_output_tokens: 300 };
  const calls: Call[] = [];

  test.each(Object.keys(transports))("a forced call over %s is valid", async (transport) => {
    const response = await transports[transport]?.({
      model: sdk.model,
      input,
      tools: [{ type: "function", name, description, parameters: inputSchema, strict: true }],
      tool_choice: { type: "function", name },
      ...limits,
    });
    expect(response?.status).toBe("completed");
    const [call, ...others] = response ? callsOf(response) : [];
    expect([call?.name, others]).toEqual([name, []]);
    expect(isValid(JSON.parse(call?.arguments ?? "")), call?.arguments).toBe(true);
    if (call) calls.push(call);
    expect(call).toEqual(calls[0]);
  });

  test("Chat Completions makes the same call, streamed or not", async () => {
    const body = {
      model: sdk.model,
      messages: [{ role: "user" as const, content: input }],
      tools: [
        { type: "function" as const, function: { name, description, parameters: inputSchema } },
      ],
      tool_choice: { type: "function" as const, function: { name } },
      temperature: limits.temperature,
      max_completion_tokens: limits.max_output_tokens,
    };
    const whole = await sdk.client.chat.completions.create(body);
    const streamed = await sdk.client.chat.completions.stream(body).finalChatCompletion();
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]?.finish_reason).toBe("tool_calls");
      const [call] = choices[0]?.message.tool_calls ?? [];
      expect(call?.type === "function" && call.function).toMatchObject(calls[0] ?? {});
    }
  });
});

test("an answer of a schema is that JSON and nothing else", async () => {
  const schema = {
    type: "object",
    properties: { capital: { enum: ["Paris", "Rome", "Oslo"] }, sure: { type: "boolean" } },
    required: ["capital", "sure"],
    additionalProperties: false,
  };
  const response = await sdk.client.responses.create({
    model: sdk.model,
    input: "What is the capital of France?",
    temperature: 0,
    text: { format: { type: "json_schema", name: "capital", strict: true, schema } },
  });
  expect(judgeOf(schema)(JSON.parse(response.output_text)), response.output_text).toBe(true);
});

test("an answer that the cap cuts is incomplete, never broken JSON that is called complete", async () => {
  const schema = { type: "object", properties: { text: { type: "string", minLength: 500 } } };
  const response = await sdk.client.responses.create({
    model: sdk.model,
    input: "Tell a long story.",
    temperature: 0,
    max_output_tokens: 24,
    text: {
      format: { type: "json_schema", name: "story", schema: { ...schema, required: ["text"] } },
    },
  });
  expect(response.status).toBe("incomplete");
  expect(response.incomplete_details).toEqual({ reason: "max_output_tokens" });
});

test("a free-form tool gets a text that its grammar derives", async () => {
  const response = await sdk.client.responses.create({
    model: sdk.model,
    input: "Fix the file.",
    tools: [
      {
        type: "custom",
        name: "edit",
        format: {
          type: "grammar",
          syntax: "lark",
          definition:
            'start: "*** Begin\\n" line~1..3 "*** End\\n"\nline: "+" /[a-z ]{1,12}/ "\\n"',
        },
      },
    ],
    tool_choice: { type: "custom", name: "edit" },
    temperature: 0,
    max_output_tokens: 400,
  });
  const [call] = response.output;
  const text = call?.type === "custom_tool_call" ? call.input : "";
  expect(text).toMatch(/^\*\*\* Begin\n(?:\+[a-z ]{1,12}\n){1,3}\*\*\* End\n$/);
});

test("a schema that cannot be enforced is refused by name, place and keyword", async () => {
  const parameters = { type: "object", properties: { a: { type: "string", pattern: "(?<=x)y" } } };
  const refused = sdk.client.responses.create({
    model: sdk.model,
    input: "x",
    tools: [{ type: "function", name: "look", parameters, strict: true }],
  });
  await expect(refused).rejects.toMatchObject({
    status: 400,
    code: "invalid_value",
    param: "tools[0].parameters",
    message: expect.stringMatching(/look.*\/properties\/a.*pattern/),
  });
});
