import { expect, test } from "vitest";
import { parseChatRequest } from "../../../src/protocol/chat-request.ts";
import { parseResponsesRequest } from "../../../src/protocol/responses-request.ts";
import { outcomeOf } from "./outcome-of.ts";

const schema = { type: "object", properties: { b: {}, a: {} } };

function chatFormat(responseFormat: unknown) {
  const body = { model: "m", messages: [{ role: "user", content: "x" }] };
  return parseChatRequest({ ...body, response_format: responseFormat }).request.textFormat;
}

function responsesFormat(format: unknown) {
  return parseResponsesRequest({ model: "m", input: "x", text: { format } }, "http").textFormat;
}

test("a schema is flat in Responses and nested in Chat Completions", () => {
  const fields = { name: "weather", schema, strict: true, description: "d" };
  const format = { type: "json_schema", name: "weather", schema };
  expect(responsesFormat({ type: "json_schema", ...fields })).toEqual({
    ...format,
    path: "text.format.schema",
  });
  expect(chatFormat({ type: "json_schema", json_schema: fields })).toEqual({
    ...format,
    path: "response_format.json_schema.schema",
  });
});

test("text and json_object carry nothing else", () => {
  expect(responsesFormat({ type: "json_object" })).toEqual({ type: "json_object" });
  expect(chatFormat({ type: "json_object" })).toEqual({ type: "json_object" });
  expect(chatFormat({ type: "text" })).toEqual({ type: "text" });
});

const named = { type: "json_schema", name: "n" };

test.each([
  [{}, "400 missing_required_parameter text.format.type"],
  [{ type: "xml" }, "400 invalid_value text.format.type"],
  [{ type: "json_schema", schema }, "400 missing_required_parameter text.format.name"],
  [{ ...named, name: "a b", schema }, "400 invalid_value text.format.name"],
  [{ ...named, name: "a".repeat(65), schema }, "400 invalid_value text.format.name"],
  [named, "400 missing_required_parameter text.format.schema"],
  [{ ...named, schema: [] }, "400 invalid_type text.format.schema"],
  [{ ...named, schema, strict: "yes" }, "400 invalid_type text.format.strict"],
])("%j is %s", (format, outcome) => {
  expect(outcomeOf(() => responsesFormat(format))).toBe(outcome);
});

test("the nested fields of Chat Completions are required", () => {
  const outcome = outcomeOf(() => chatFormat({ type: "json_schema" }));
  expect(outcome).toBe("400 missing_required_parameter response_format.json_schema");
});
