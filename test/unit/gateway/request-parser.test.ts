import { expect, test } from "vitest";
import { RequestParser } from "../../../src/gateway/request-parser.ts";

const TOOLS = [{ type: "function", name: "flat", function: { name: "nested" } }];

function payload(fields: object): Buffer {
  return Buffer.from(JSON.stringify({ model: "m", tools: TOOLS, ...fields }));
}

test("the same text of tools means what it does on each route, whichever came first", () => {
  const parser = new RequestParser();
  const chat = payload({ messages: [{ role: "user", content: "Hi." }] });
  const response = payload({ input: "Hi." });
  for (let times = 0; times < 2; times++) {
    const { request } = parser.parseInline("chat", chat, "t");
    const { callableTools } = parser.parseInline("responses", response, "t");
    expect(request.callableTools.map(({ name }) => name)).toEqual(["nested"]);
    expect(callableTools.map(({ name }) => name)).toEqual(["flat"]);
  }
});
