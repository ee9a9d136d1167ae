/**
 * The cases by which servers of this protocol are compared, ten over HTTP and seven over WebSocket,
 * written from the protocol and run against a started server with the default model. Responses and
 * events are held to strict schemas. A model of this size calls no tools by itself: calls are forced.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type StartedServer, startServer } from "../e2e/cli-process.ts";
import { CheckedClient, type Fields } from "./checked-client.ts";
import { type CheckedStream, checkStream, isTerminal } from "./checked-stream.ts";
import { errorBodySchema, errorFrameSchema, type Item, type Response } from "./response-schemas.ts";

let server: StartedServer;
let client: CheckedClient;
beforeAll(async () => {
  server = await startServer();
  client = new CheckedClient(server);
});
afterAll(() => server?.[Symbol.asyncDispose]());

const WEATHER = {
  type: "function",
  name: "get_weather",
  description: "The weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string", maxLength: 20 } },
    required: ["city"],
    additionalProperties: false,
  },
};
const FORCED = { tools: [WEATHER], tool_choice: "required", parallel_tool_calls: false };

function textOf({ output }: Response): string {
  return output
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .map((part) => (part.type === "output_text" ? part.text : ""))
    .join("");
}

function callOf({ output }: Response): Extract<Item, { type: "function_call" }> {
  const [item] = output;
  if (item?.type !== "function_call") throw new Error(`no call: ${JSON.stringify(output)}`);
  return item;
}

const typesOf = ({ events }: CheckedStream) =>
  events.map(({ type }) => type).filter((type) => type !== "keepalive");

const TEXT_EVENTS = new RegExp(
  [
    "^response.created",
    "(response.queued )?response.in_progress",
    "response.output_item.added response.content_part.added",
    "(response.output_text.delta )+response.output_text.done",
    "response.content_part.done response.output_item.done",
    "response.completed$",
  ].join(" "),
);
const CALL_EVENTS = new RegExp(
  [
    "^response.created",
    "(response.queued )?response.in_progress",
    "response.output_item.added",
    "(response.function_call_arguments.delta )+response.function_call_arguments.done",
    "response.output_item.done",
    "response.completed$",
  ].join(" "),
);

describe("HTTP", () => {
  test("basic text response", async () => {
    const response = await client.create({ input: "What is the capital of France?" });
    expect(response).toMatchObject({ status: "completed", error: null, model: server.modelId });
    expect(textOf(response)).toBe("The capital of France is Paris.");
    expect(response.completed_at).toBeGreaterThanOrEqual(response.created_at);
    expect(response.usage?.output_tokens).toBeGreaterThan(0);
  });

  test("streaming response", async () => {
    const checked = await client.stream({ input: "What is the capital of France?" });
    expect(typesOf(checked).join(" ")).toMatch(TEXT_EVENTS);
    expect(textOf(checked.response)).toBe("The capital of France is Paris.");
  });

  test("system prompt", async () => {
    const instructions = "Answer in one short sentence.";
    const user = { type: "message", role: "user", content: "What is the capital of France?" };
    const system = { type: "message", role: "system", content: instructions };
    const asItem = await client.create({ input: [system, user] });
    const asField = await client.create({ instructions, input: [user] });
    expect(asItem.status).toBe("completed");
    expect(textOf(asItem)).toBe(textOf(asField));
    expect(asField.instructions).toBe(instructions);
  });

  test("tool calling", async () => {
    const input = [{ role: "user", content: "How is the weather in Oslo?" }];
    const first = await client.create({ ...FORCED, input });
    const call = callOf(first);
    expect(call).toMatchObject({ status: "completed", name: "get_weather" });
    expect(JSON.parse(call.arguments)).toEqual({ city: expect.any(String) });
    const output = { type: "function_call_output", call_id: call.call_id, output: "4 C, rain" };
    const second = await client.create({
      tools: [WEATHER],
      input: [...input, ...first.output, output],
    });
    expect(second.output.length).toBeGreaterThan(0);
  });

  test("tool calling, streamed", async () => {
    const checked = await client.stream({ ...FORCED, input: "How is the weather in Oslo?" });
    expect(typesOf(checked).join(" ")).toMatch(CALL_EVENTS);
    const added = checked.events.find(({ type }) => type === "response.output_item.added");
    expect(added?.item).toMatchObject({
      status: "in_progress",
      name: "get_weather",
      arguments: "",
    });
    expect(callOf(checked.response).status).toBe("completed");
  });

  test("image input: a model that reads text only says so, and where the image is", async () => {
    const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" };
    const question = { type: "input_text", text: "What is this?" };
    const reply = await client.post({ input: [{ role: "user", content: [question, image] }] });
    expect(reply.status).toBe(400);
    expect(errorBodySchema.parse(await reply.json()).error).toMatchObject({
      type: "invalid_request_error",
      code: "unsupported_content",
      param: "input[0].content[1]",
    });
  });

  test("multi-turn conversation", async () => {
    const response = await client.create({
      input: [
        { type: "message", role: "user", content: "What is the capital of France?" },
        { type: "message", role: "assistant", content: "The capital of France is Paris." },
        { type: "message", role: "user", content: "Name the capital of Italy." },
      ],
    });
    expect(response.status).toBe("completed");
    expect(textOf(response)).toContain("Rome");
  });

  test("structured output", async () => {
    const schema = {
      type: "object",
      properties: { city: { type: "string", maxLength: 20 }, capital: { type: "boolean" } },
      required: ["city", "capital"],
      additionalProperties: false,
    };
    const format = { type: "json_schema", name: "city", schema, strict: true };
    const response = await client.create({ input: "Is Paris a capital?", text: { format } });
    expect(JSON.parse(textOf(response))).toEqual({
      city: expect.any(String),
      capital: expect.any(Boolean),
    });
    expect(response.text.format).toEqual({ description: null, ...format });
  });

  test("reasoning: settings are repeated, reasoning items of a history are read", async () => {
    const reasoning = { type: "reasoning", summary: [], content: null, encrypted_content: "x" };
    const response = await client.create({
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      input: [
        { role: "user", content: "What is the capital of France?" },
        reasoning,
        { role: "assistant", content: "Paris." },
        { role: "user", content: "And of Italy?" },
      ],
    });
    expect(response.reasoning).toEqual({ effort: "low", summary: "auto" });
    expect(response.usage?.output_tokens_details.reasoning_tokens).toBe(0);
  });

  test("previous_response_id continues a stored response", async () => {
    const first = await client.create({ input: "My name is Alice.", store: true });
    const second = await client.create({
      input: "What is my name?",
      previous_response_id: first.id,
    });
    expect(second.previous_response_id).toBe(first.id);
    expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.total_tokens ?? 0);
  });
});

/** One socket; frames are handed out in the order that they came in. */
class Socket implements AsyncDisposable {
  readonly #socket: WebSocket;
  readonly #frames: Fields[] = [];
  #onFrame: (() => void) | undefined;

  constructor() {
    this.#socket = new WebSocket(`${server.url.replace("http", "ws")}/v1/responses`);
    this.#socket.on("message", (data) => {
      this.#frames.push(JSON.parse(String(data)));
      this.#onFrame?.();
    });
  }

  async send(fields: Fields): Promise<void> {
    if (this.#socket.readyState === WebSocket.CONNECTING) {
      await new Promise((resolve) => this.#socket.once("open", resolve));
    }
    this.#socket.send(JSON.stringify({ type: "response.create", ...client.requestOf(fields) }));
  }

  /** Frames from here on until there are `numEnds` that end a response or refuse a request. */
  async receive(numEnds = 1): Promise<readonly Fields[]> {
    const isEnd = ({ type }: Fields) => type === "error" || isTerminal({ type: String(type) });
    while (this.#frames.filter(isEnd).length < numEnds) {
      await new Promise<void>((resolve) => {
        this.#onFrame = resolve;
      });
    }
    return this.#frames.splice(0);
  }

  async create(fields: Fields): Promise<CheckedStream> {
    await this.send({ store: false, ...fields });
    return checkStream(await this.receive());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await new Promise((resolve) => this.#socket.once("close", resolve));
  }
}

describe("WebSocket", () => {
  test("text response", async () => {
    await using socket = new Socket();
    const { response } = await socket.create({ input: "What is the capital of France?" });
    expect(response).toMatchObject({ status: "completed", store: false, instructions: null });
    expect(textOf(response)).toBe("The capital of France is Paris.");
  });

  test("events come in order, on every turn from 0", async () => {
    await using socket = new Socket();
    for (const input of ["What is the capital of France?", "Name the capital of Italy."]) {
      expect(typesOf(await socket.create({ input })).join(" ")).toMatch(TEXT_EVENTS);
    }
  });

  test("a chain by previous_response_id", async () => {
    await using socket = new Socket();
    const first = await socket.create({ input: "My name is Alice." });
    const second = await socket.create({
      input: "What is my name?",
      previous_response_id: first.response.id,
    });
    expect(second.response.previous_response_id).toBe(first.response.id);
    const details = second.response.usage?.input_tokens_details;
    const computedBefore = (first.response.usage?.total_tokens ?? 0) - 1;
    expect(details?.cached_tokens).toBeGreaterThanOrEqual(computedBefore);
    expect(details?.miss_reason).toBeUndefined();
  });

  test("a tool call and its output", async () => {
    await using socket = new Socket();
    const first = await socket.create({ ...FORCED, input: "How is the weather in Oslo?" });
    const { call_id } = callOf(first.response);
    const second = await socket.create({
      tools: [WEATHER],
      previous_response_id: first.response.id,
      input: [{ type: "function_call_output", call_id, output: "4 C, rain" }],
    });
    expect(second.response.output.length).toBeGreaterThan(0);
    expect(second.response.usage?.input_tokens_details.miss_reason).toBeUndefined();
  });

  test("a warmup generates nothing and can be continued", async () => {
    await using socket = new Socket();
    const input = [{ role: "developer", content: "Answer in one short sentence." }];
    const warmup = await socket.create({ input, generate: false });
    expect(typesOf(warmup)).toEqual([
      "response.created",
      "response.in_progress",
      "response.completed",
    ]);
    expect(warmup.response).toMatchObject({ output: [], usage: { output_tokens: 0 } });
    const { response } = await socket.create({
      input: "What is the capital of France?",
      previous_response_id: warmup.response.id,
    });
    expect(response.usage?.input_tokens_details.cached_tokens).toBeGreaterThan(0);
  });

  test("an unknown previous_response_id is an error frame, and the socket stays usable", async () => {
    await using socket = new Socket();
    await socket.send({ input: "And then?", previous_response_id: "resp_0000000000000000" });
    const [frame] = await socket.receive();
    expect(errorFrameSchema.parse(frame)).toMatchObject({
      status: 400,
      error: { code: "previous_response_not_found", param: "previous_response_id" },
    });
    const { response } = await socket.create({ input: "What is the capital of France?" });
    expect(response.status).toBe("completed");
  });

  test("lanes run beside each other, and a fork inherits the context", async () => {
    await using socket = new Socket();
    const parent = await socket.create({ input: "My name is Alice." });
    const branches = ["left", "right"];
    for (const stream_id of branches) {
      await socket.send({
        store: false,
        stream_id,
        input: "What is my name?",
        previous_response_id: parent.response.id,
      });
    }
    const frames = await socket.receive(branches.length);
    const [left, right] = branches.map((stream_id) =>
      checkStream(frames.filter((frame) => frame.stream_id === stream_id)),
    );
    expect(frames.every(({ stream_id }) => branches.includes(String(stream_id)))).toBe(true);
    expect(textOf(left?.response as Response)).toBe(textOf(right?.response as Response));
    expect(left?.response.id).not.toBe(right?.response.id);
  });
});
