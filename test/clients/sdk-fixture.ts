/** The openai SDK against a really started server with the default model. */
import OpenAI from "openai";
import type { ResponsesServerEvent } from "openai/resources/responses/responses";
import { ResponsesWS } from "openai/resources/responses/ws";
import { type StartedServer, startServer } from "../e2e/cli-process.ts";

export const FRANCE = {
  question: "What is the capital of France?",
  answer: "The capital of France is Paris.",
};
export const ITALY = {
  question: "Name the capital of Italy.",
  answer: "The capital of Italy is Rome.",
};

export interface SdkFixture extends AsyncDisposable {
  readonly client: OpenAI;
  readonly model: string;
  /** Sum of a metric over the label sets that contain every one of `labels`. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
}

export async function startSdkFixture(): Promise<SdkFixture> {
  const server: StartedServer = await startServer();
  return {
    client: new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 }),
    model: server.modelId,
    metric: async (name, labels = {}) => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      return sumMetric(text, name, labels);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function sumMetric(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) && wanted.every((pair) => line.includes(pair)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

/** The SDK's WebSocket class as a sequence of exchanges. */
export class SdkSocket {
  readonly #socket: ResponsesWS;
  readonly #messages: ReturnType<ResponsesWS["stream"]>;

  constructor(client: OpenAI) {
    this.#socket = new ResponsesWS(client);
    this.#messages = this.#socket.stream();
  }

  /** Sends one `response.create` and returns its events up to the terminal one. */
  async create(fields: object): Promise<readonly ResponsesServerEvent[]> {
    // The type of `send` follows the hosted service; `fields` may hold extensions as well.
    this.#socket.send({ type: "response.create", ...fields } as Parameters<ResponsesWS["send"]>[0]);
    const events: ResponsesServerEvent[] = [];
    for (;;) {
      const { value, done } = await this.#messages.next();
      if (done === true) throw new Error("the socket was closed");
      if (value.type === "error") throw value.error;
      if (value.type !== "message") continue;
      events.push(value.message);
      if (/^response\.(completed|failed|incomplete)$/.test(value.message.type)) return events;
    }
  }

  close(): void {
    this.#socket.close();
  }
}

/** The response object of the terminal event. */
export function finalResponse(events: readonly ResponsesServerEvent[]): OpenAI.Responses.Response {
  const last = events.at(-1);
  if (last === undefined || !("response" in last)) throw new Error("no terminal event");
  return last.response;
}

/** Text of a response object that the SDK has not decorated with `output_text`. */
export function textOf(response: OpenAI.Responses.Response): string {
  return response.output
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .map((part) => (part.type === "output_text" ? part.text : ""))
    .join("");
}
