import { describe, expect, it } from "vitest";
import { parseChatRequest } from "../../../src/protocol/chat-request.ts";
import { parseRequestJson, RepeatedFields } from "../../../src/protocol/repeated-fields.ts";
import { parseResponsesRequest } from "../../../src/protocol/responses-request.ts";
import { seededRandom } from "../../seeded-random.ts";

const TOOLS = Array.from({ length: 4 }, (_, index) => ({
  type: "function",
  name: `tool_${index}`,
  description: `Does "this", {that}, [those]: ${"words ".repeat(20)}\\`,
  parameters: { type: "object", properties: { tools: { type: "string" } } },
}));
const INSTRUCTIONS = `Be brief, "exact": ${"and kind, ".repeat(40)}`;

function parse(text: string, repeated: RepeatedFields) {
  return parseRequestJson(Buffer.from(text), repeated);
}

function requestOf(text: string, repeated: RepeatedFields) {
  return parseResponsesRequest(parse(text, repeated), "http", repeated);
}

describe("tools and instructions that come again", () => {
  const first = JSON.stringify({
    model: "m",
    instructions: INSTRUCTIONS,
    tools: TOOLS,
    input: "a",
  });
  const second = JSON.stringify({
    model: "m",
    input: "b",
    tools: TOOLS,
    instructions: INSTRUCTIONS,
  });

  it("are the objects that they were", () => {
    const repeated = new RepeatedFields();
    const [one, two] = [requestOf(first, repeated), requestOf(second, repeated)];
    expect(two.callableTools).toBe(one.callableTools);
    expect(two.tools).toBe(one.tools);
    expect(two.instructions).toBe(INSTRUCTIONS);
    expect(two.input).not.toEqual(one.input);
  });

  it("are recognised in chat requests as well", () => {
    const tools = TOOLS.map(({ type, ...tool }) => ({ type, function: tool }));
    const text = (content: string) =>
      JSON.stringify({ model: "m", tools, messages: [{ role: "user", content }] });
    const repeated = new RepeatedFields();
    const [one, two] = ["a", "b"].map((content) =>
      parseChatRequest(parse(text(content), repeated), repeated),
    );
    expect(two?.request.callableTools).toBe(one?.request.callableTools);
    expect(two?.request.callableTools).toHaveLength(TOOLS.length);
    expect(two?.request.input).not.toEqual(one?.request.input);
  });

  it("are validated as they always are", () => {
    const repeated = new RepeatedFields();
    const bad = first.replace("tool_2", "no name!");
    for (let times = 0; times < 2; times++) {
      expect(() => requestOf(bad, repeated)).toThrow(/tools\[2\]\.name/);
    }
    const spaced = JSON.stringify(JSON.parse(first), null, 2);
    expect(requestOf(spaced, repeated).callableTools).toEqual(
      requestOf(first, repeated).callableTools,
    );
  });

  it("are what JSON has, whatever the order, the spaces and the spelling of names", () => {
    const random = seededRandom(3);
    const repeated = new RepeatedFields();
    const names = ["tools", "instructions", "t\\u006fols", "other", "tools "];
    const values = [TOOLS, INSTRUCTIONS, { tools: TOOLS, list: [TOOLS, ","] }, null, 1, "tools"];
    const pick = <T>(options: readonly T[]) => options[Math.floor(random() * options.length)];
    const space = () => " ".repeat(Math.floor(random() * 3));
    for (let count = 0; count < 2000; count++) {
      const fields = Array.from({ length: Math.floor(random() * 5) }, () => {
        const value = JSON.stringify(pick(values), null, Math.floor(random() * 2));
        return `${space()}"${pick(names)}"${space()}:${space()}${value}${space()}`;
      });
      const text = `${space()}{${fields.join(",")}}${space()}`;
      expect(parse(text, repeated)).toEqual(JSON.parse(text));
    }
  });

  it("hide no error in the text around them", () => {
    const repeated = new RepeatedFields();
    parse(first, repeated);
    const tools = JSON.stringify(TOOLS);
    const broken = [
      `{"tools":${tools}`,
      `{"tools":${tools},}`,
      `{"tools" ${tools}}`,
      `{"tools":${tools} 1}`,
      `{"tools":${tools.slice(0, -1)}}`,
      `["tools",${tools}`,
      `["tools"${tools}:${tools}]`,
    ];
    for (const text of broken) {
      expect(() => JSON.parse(text)).toThrow();
      expect(() => parse(text, repeated), text.slice(0, 20)).toThrow(/valid JSON|not an object/);
    }
    expect(() => parse(`["tools",${tools}]`, repeated)).toThrow(/not an object/);
  });
});
