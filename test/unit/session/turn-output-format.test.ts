import { expect, it } from "vitest";
import type { CallableTool, ResponsesRequest } from "../../../src/protocol/responses-types.ts";
import { outputFormatOf } from "../../../src/session/turn-output-format.ts";
import type { RenderedText } from "../../../src/text/text-types.ts";
import { makeRequest } from "./session-fixture.ts";

const THINKS = { toolFormat: "hermes", thinkingFormat: "think" } as const;
const PLAIN = { toolFormat: "hermes", thinkingFormat: undefined } as const;

function formatOf(
  fields: Partial<ResponsesRequest>,
  template: typeof THINKS | typeof PLAIN,
  prompt = "<|im_start|>assistant\n",
) {
  const text = prompt as RenderedText;
  return outputFormatOf({ request: makeRequest(fields), prompt: { ending: text } }, template);
}

function functionTool(name: string, properties: object): CallableTool {
  const parameters = { type: "object", properties };
  return { type: "function", name, description: null, parameters, strict: null, path: "tools[0]" };
}

const READ = functionTool("read", {
  path: { type: "string" },
  mode: { enum: ["r", "w"] },
  limit: { type: ["integer", "string"] },
});
const PATCH: CallableTool = {
  type: "custom",
  name: "patch",
  description: null,
  format: { type: "text" },
  path: "tools[1]",
};

it("is plain text where nothing else is to be found", () => {
  expect(formatOf({}, PLAIN)).toBeUndefined();
  expect(formatOf({ callableTools: [READ], toolChoice: { mode: "none" } }, PLAIN)).toBeUndefined();
});

it("has the tools that may be called, and which of their parameters are texts", () => {
  const callableTools = [READ, PATCH];
  expect(formatOf({ callableTools }, PLAIN)).toEqual({
    calls: {
      format: "hermes",
      tools: [
        { name: "read", textParameters: ["path", "mode"] },
        { name: "patch", textParameters: ["input"] },
      ],
    },
  });
  const toolChoice = { mode: "required", named: [{ type: "custom", name: "patch" }] } as const;
  expect(formatOf({ callableTools, toolChoice }, PLAIN)?.calls?.tools).toHaveLength(1);
});

it("starts in thinking where the prompt ends in it, and with a JSON answer perhaps without its tag", () => {
  const json = { textFormat: { type: "json_object" } } as const;
  const startOf = (fields: Partial<ResponsesRequest>, prompt?: string) =>
    formatOf(fields, THINKS, prompt)?.thinking?.start;
  expect(startOf({})).toBe("closed");
  expect(startOf({}, "<|im_start|>assistant\n<think>\n")).toBe("open");
  expect(startOf({}, "<think>\n\n</think>\n\n")).toBe("closed");
  expect(startOf(json)).toBe("bare");
  expect(startOf(json, "<|im_start|>assistant\n<think>\n")).toBe("open");
});
