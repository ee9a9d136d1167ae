/** Requests to a started server, whose answers are held to the schemas and rules of the protocol. */
import { expect } from "vitest";
import type { StartedServer } from "../e2e/cli-process.ts";
import { type CheckedStream, checkStream } from "./checked-stream.ts";
import { type Response, responseSchema } from "./response-schemas.ts";

export type Fields = Readonly<Record<string, unknown>>;

export class CheckedClient {
  readonly #server: StartedServer;

  constructor(server: StartedServer) {
    this.#server = server;
  }

  /** With the model, and settings under which answers are short and always the same. */
  requestOf(fields: Fields): Fields {
    return { model: this.#server.modelId, temperature: 0, max_output_tokens: 64, ...fields };
  }

  post(fields: Fields): Promise<globalThis.Response> {
    return fetch(`${this.#server.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(this.requestOf(fields)),
    });
  }

  async create(fields: Fields): Promise<Response> {
    const reply = await this.post(fields);
    expect(reply.status).toBe(200);
    return responseSchema.parse(await reply.json());
  }

  async stream(fields: Fields): Promise<CheckedStream> {
    const reply = await this.post({ ...fields, stream: true });
    expect(reply.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const blocks = (await reply.text()).trimEnd().split("\n\n");
    const events = blocks.map((block) => {
      const [, type, data = ""] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      const event: Fields = JSON.parse(data);
      expect(event.type).toBe(type);
      return event;
    });
    return checkStream(events);
  }
}
