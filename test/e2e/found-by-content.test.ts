/**
 * What a really started server has computed is found by whoever goes on from it: a new socket with the
 * whole history, another one with the same head, a turn that was cut off, a step back.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Frame, isTerminal, TestSocket } from "../unit/gateway/test-gateway.ts";
import { weatherTool } from "../unit/session/session-fixture.ts";
import { type StartedServer, startServer } from "./cli-process.ts";

const BLOCK_TOKENS = 16;
const { path: _, ...TOOL } = weatherTool;
const HEAD = {
  instructions: `You help with a garden. ${"Roses want water and light. ".repeat(10)}`,
  tools: [TOOL],
  tool_choice: "none",
  temperature: 0,
  max_output_tokens: 8,
  store: false,
};

interface Response {
  readonly id: string;
  readonly output: readonly object[];
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly input_tokens_details: {
      readonly cached_tokens: number;
      readonly miss_reason?: string;
    };
  };
}

let server: StartedServer;
beforeAll(async () => {
  server = await startServer(["--store-dir", "none", "--threads", "1"]);
});
afterAll(() => server[Symbol.asyncDispose]());

/** One WebSocket. `history`: what a client would keep that sends everything each time. */
class Client {
  readonly socket: TestSocket;
  readonly history: object[] = [];

  constructor(socket: TestSocket) {
    this.socket = socket;
  }

  static async open(): Promise<Client> {
    return new Client(
      await TestSocket.open(`${server.url.replace("http", "ws")}/v1/responses`, {}),
    );
  }

  async say(text: string, fields: object = {}): Promise<Response> {
    const question = say(text);
    const response = await this.send([question], fields);
    this.history.push(question, ...response.output);
    return response;
  }

  async send(input: readonly object[], fields: object = {}): Promise<Response> {
    const { frames } = this.socket;
    const numEnded = frames.filter(isTerminal).length;
    this.socket.create({ model: server.modelId, ...HEAD, ...fields, input });
    await this.socket.until(isTerminal, numEnded + 1);
    return responseOf(frames.findLast(isTerminal));
  }
}

function say(text: string) {
  return {
    type: "message",
    role: "user",
    content: `${text} ${"It grows by the wall. ".repeat(5)}`,
  };
}

function responseOf(frame: Frame | undefined): Response {
  if (frame?.type !== "response.incomplete" && frame?.type !== "response.completed") {
    throw new Error(`no answer: ${JSON.stringify(frame)}`);
  }
  return frame.response as Response;
}

/** Tokens that stood in no cache. */
function numComputed({ usage }: Response): number {
  return usage.input_tokens - usage.input_tokens_details.cached_tokens;
}

/** Tokens of a turn behind those of its parent. */
function numNew({ usage }: Response, parent: Response): number {
  return usage.input_tokens - parent.usage.input_tokens - parent.usage.output_tokens;
}

test("a new socket with the whole history goes on where another ended", async () => {
  const first = await Client.open();
  const { id } = await first.say("The red rose?");
  const parent = await first.say("And the white one?", { previous_response_id: id });
  first.socket.socket.close();
  const second = await Client.open();
  const next = await second.send([...first.history, say("And the fern?")]);
  expect(numComputed(next)).toBeLessThanOrEqual(numNew(next, parent) + 1);
  second.socket.socket.close();
});

test("a second socket with the same head computes only its own question", async () => {
  const main = await Client.open();
  await main.say("The apple tree?");
  const helper = await Client.open();
  const other = await helper.say("The pear tree?");
  const { input_tokens } = other.usage;
  const alone = await helper.send([say("The pear tree?")], { instructions: null, tools: [] });
  expect(numComputed(other)).toBeLessThan(alone.usage.input_tokens + BLOCK_TOKENS);
  expect(numComputed(other)).toBeLessThan(input_tokens / 2);
  for (const client of [main, helper]) client.socket.socket.close();
});

test("a turn whose socket was dropped is taken up again by a socket with the whole history", async () => {
  const dropped = await Client.open();
  const parent = await dropped.say("The tulip?");
  const question = say("And the daisy? Tell all of it.");
  dropped.socket.create({
    ...{ model: server.modelId, ...HEAD, max_output_tokens: 2000 },
    ...{ previous_response_id: parent.id, input: [question] },
  });
  const numDeltas = dropped.socket.frames.filter(isDelta).length;
  await dropped.socket.until(isDelta, numDeltas + 3);
  dropped.socket.socket.terminate();
  const running = async () => await (await fetch(`${server.url}/metrics`)).text();
  await expect.poll(running).toMatch(/^vllm:num_requests_running\S* 0$/m);
  const client = await Client.open();
  const next = await client.send([...dropped.history, question]);
  // The question as well is in the cache by now, up to its last whole block.
  expect(numComputed(next)).toBeLessThanOrEqual(BLOCK_TOKENS);
  client.socket.socket.close();
});

test("a client that goes back a turn computes its new question only", async () => {
  const client = await Client.open();
  const first = await client.say("The oak?");
  const second = await client.say("And its leaves?", { previous_response_id: first.id });
  const again = await client.say("And its roots?", { previous_response_id: first.id });
  expect(numComputed(again)).toBeLessThanOrEqual(numNew(again, first) + 1);
  expect(again.usage.input_tokens_details).not.toHaveProperty("miss_reason");
  const onward = await client.say("And the acorns?", { previous_response_id: second.id });
  expect(numComputed(onward)).toBeLessThanOrEqual(numNew(onward, second) + 1);
  client.socket.socket.close();
});

function isDelta({ type }: Frame): boolean {
  return type === "response.output_text.delta";
}
