/** Calls of every kind of tool by the default model: forced, and returned as the items that belong to it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type StartedServer, startServer } from "../e2e/cli-process.ts";
import { CheckedClient } from "./checked-client.ts";

let server: StartedServer;
let client: CheckedClient;
beforeAll(async () => {
  server = await startServer();
  client = new CheckedClient(server);
});
afterAll(() => server?.[Symbol.asyncDispose]());

const parameters = {
  type: "object",
  properties: { city: { enum: ["Oslo", "Rome"] } },
  required: ["city"],
  additionalProperties: false,
};
const query = {
  type: "object",
  properties: { query: { type: "string", maxLength: 12 } },
  required: ["query"],
  additionalProperties: false,
};
const weather = { type: "function", name: "weather", parameters };
const user = { role: "user", content: "How is the weather in Oslo?" };

const CASES = [
  {
    name: "a member of a namespace",
    request: {
      tools: [{ type: "namespace", name: "sky", description: "The sky", tools: [weather] }],
      tool_choice: { type: "function", namespace: "sky", name: "weather" },
    },
    item: { type: "function_call", namespace: "sky", name: "weather" },
  },
  {
    name: "a search for tools",
    request: {
      tools: [{ type: "tool_search", execution: "client", parameters: query }],
      tool_choice: { type: "tool_search" },
    },
    item: { type: "tool_search_call", arguments: { query: expect.any(String) } },
  },
  {
    name: "a tool that is defined in the conversation",
    request: {
      input: [user, { type: "additional_tools", role: "developer", tools: [weather] }],
      tool_choice: { type: "function", name: "weather" },
    },
    item: { type: "function_call", name: "weather" },
  },
  {
    name: "apply_patch",
    request: { tools: [{ type: "apply_patch" }], tool_choice: { type: "apply_patch" } },
    item: { type: "apply_patch_call", operation: { path: expect.any(String) } },
  },
] as const;

describe.each(CASES)("$name", ({ request, item }) => {
  test("is called by an item of its kind", async () => {
    const fields = { input: [user], max_output_tokens: 300, ...request };
    const { response } = await client.stream(fields);
    // A text without a bound may go on to the cap; then there is no half call.
    if (response.status === "incomplete") expect(response.output).toEqual([]);
    else expect(response.output).toMatchObject([item]);
  });
});
