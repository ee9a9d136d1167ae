/** Kind `client` of the cases: real clients, which leave answers in the middle and ask again. */
import { setTimeout as sleep } from "node:timers/promises";
import { createOpenAI } from "@ai-sdk/openai";
import { jsonSchema, Output, streamText } from "ai";
import OpenAI from "openai";
import { type StartedServer, startServer } from "../../e2e/cli-process.ts";

interface ClientCase {
  readonly do?: { readonly loop?: number };
}

interface Attempt {
  /** The answer holds the nonce that was asked for. */
  readonly ok: boolean;
  readonly text: string;
}

/** One client: leaves an answer after its second delta, then asks for a nonce. */
interface RestartingClient {
  leaveAfterSecondDelta(): Promise<void>;
  askForNonce(nonce: string): Promise<string>;
}

const LONG_QUESTION = "Write a long story about a lighthouse.";
const MAX_TOKENS = 400;
const POLL_MS = 100;
const MAX_POLLS = 100;

const schemaOf = (nonce: string) => ({
  type: "object" as const,
  properties: { nonce: { type: "string" as const, const: nonce } },
  required: ["nonce"],
  additionalProperties: false,
});

function sdkClient({ url, modelId: model }: StartedServer): RestartingClient {
  const { responses } = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
  return {
    leaveAfterSecondDelta: async () => {
      const request = { model, input: LONG_QUESTION, max_output_tokens: MAX_TOKENS };
      const stream = await responses.create({ ...request, stream: true });
      let numDeltas = 0;
      for await (const { type } of stream) {
        if (type === "response.output_text.delta" && ++numDeltas === 2) break;
      }
    },
    askForNonce: async (nonce) => {
      const format = { type: "json_schema" as const, name: "nonce", schema: schemaOf(nonce) };
      const stream = responses.stream({ model, input: "The nonce?", text: { format } });
      return (await stream.finalResponse()).output_text;
    },
  };
}

function vercelClient({ url, modelId }: StartedServer): RestartingClient {
  const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" }).responses(modelId);
  return {
    leaveAfterSecondDelta: async () => {
      const controller = new AbortController();
      const { textStream } = streamText({
        ...{ model, prompt: LONG_QUESTION, maxOutputTokens: MAX_TOKENS, maxRetries: 0 },
        abortSignal: controller.signal,
      });
      let numDeltas = 0;
      for await (const _ of textStream) if (++numDeltas === 2) controller.abort();
    },
    askForNonce: async (nonce) => {
      const { text } = streamText({
        ...{ model, prompt: "The nonce?", maxRetries: 0 },
        output: Output.object({ schema: jsonSchema(schemaOf(nonce)) }),
      });
      return await text;
    },
  };
}

const CLIENTS = [sdkClient, vercelClient];

export async function clientHook({ do: wish }: ClientCase, { id }: { readonly id: string }) {
  if (id !== "CL-02" || wish?.loop === undefined) return { skip: "needs the agent loop" };
  const worlds = [];
  for (const makeClient of CLIENTS) worlds.push(await restartOften(makeClient, wish.loop));
  return worlds;
}

async function restartOften(
  makeClient: (server: StartedServer) => RestartingClient,
  loops: number,
) {
  await using server = await startServer();
  let numRejections = 0;
  const count = () => {
    ++numRejections;
  };
  process.on("unhandledRejection", count);
  try {
    const client = makeClient(server);
    const attempts: Attempt[] = [];
    for (let k = 0; k < loops; ++k) attempts.push(await restartOnce(client, `nonce-${k}-${id(k)}`));
    return {
      new: attempts,
      metrics: { "vllm:num_requests_running": await runningAtLast(server) },
      unhandled_rejections: numRejections,
    };
  } finally {
    process.off("unhandledRejection", count);
  }
}

/** Differs between neighbours in more than a digit. */
const id = (k: number): string => ((k + 1) * 7919).toString(36);

async function restartOnce(client: RestartingClient, nonce: string): Promise<Attempt> {
  await client.leaveAfterSecondDelta();
  const text = await client.askForNonce(nonce);
  return { ok: (JSON.parse(text) as { nonce?: unknown }).nonce === nonce, text };
}

/** A step that was running when its client left may still be counted. */
async function runningAtLast(server: StartedServer): Promise<number> {
  for (let tries = MAX_POLLS; tries > 1; --tries) {
    if ((await runningRequests(server)) === 0) break;
    await sleep(POLL_MS);
  }
  return await runningRequests(server);
}

async function runningRequests({ url }: StartedServer): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^vllm:num_requests_running\S* (\S+)$/m.exec(text)?.[1]);
}
