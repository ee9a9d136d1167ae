import { describe, expect, test } from "vitest";
import { parseChatRequest } from "../../../src/protocol/chat-request.ts";
import { checkToolChoice } from "../../../src/protocol/parse-tool-choice.ts";
import { parseResponsesRequest } from "../../../src/protocol/responses-request.ts";
import type { ResponsesRequest } from "../../../src/protocol/responses-types.ts";
import { outcomeOf } from "./outcome-of.ts";

const tools = [
  { type: "function", name: "ls" },
  { type: "custom", name: "patch" },
  { type: "web_search" },
];

function responsesChoice(toolChoice: unknown, request: object = { tools }) {
  const body = { model: "m", input: "x", ...request, tool_choice: toolChoice };
  return checked(parseResponsesRequest(body, "http"));
}

function chatChoice(toolChoice: unknown) {
  const chatTools = [
    { type: "function", function: { name: "ls" } },
    { type: "custom", custom: { name: "patch" } },
  ];
  const messages = [{ role: "user", content: "x" }];
  const body = { model: "m", messages, tools: chatTools, tool_choice: toolChoice };
  return checked(parseChatRequest(body).request);
}

function checked({ toolChoice, callableTools }: ResponsesRequest) {
  checkToolChoice(toolChoice, callableTools);
  return toolChoice;
}

test("modes are the same in both APIs; a named tool must be called", () => {
  for (const mode of ["auto", "none", "required"]) {
    expect(responsesChoice(mode)).toEqual({ mode });
    expect(chatChoice(mode)).toEqual({ mode });
  }
  const forced = { mode: "required", named: [{ type: "function", name: "ls" }] };
  expect(responsesChoice({ type: "function", name: "ls" })).toEqual(forced);
  expect(chatChoice({ type: "function", function: { name: "ls" } })).toEqual(forced);
  expect(chatChoice({ type: "custom", custom: { name: "patch" } })).toEqual({
    mode: "required",
    named: [{ type: "custom", name: "patch" }],
  });
});

test("allowed tools narrow what may be called", () => {
  const listed = [
    { type: "custom", name: "patch" },
    { type: "function", name: "ls" },
    { type: "function", name: "ls" },
  ];
  const choice = { mode: "auto", named: listed.slice(0, 2) };
  expect(responsesChoice({ type: "allowed_tools", mode: "auto", tools: listed })).toEqual(choice);
  const nested = [
    { type: "custom", custom: { name: "patch" } },
    { type: "function", function: { name: "ls" } },
  ];
  const allowed = { mode: "auto", tools: nested };
  expect(chatChoice({ type: "allowed_tools", allowed_tools: allowed })).toEqual(choice);
});

test("members of namespaces and tools known by type can be named", () => {
  const request = {
    tools: [
      { type: "namespace", name: "git", tools: [{ type: "function", name: "log" }] },
      { type: "shell" },
    ],
  };
  const log = { mode: "required", named: [{ type: "function", name: "git__log" }] };
  const inParts = { type: "function", namespace: "git", name: "log" };
  expect(responsesChoice(inParts, request)).toEqual(log);
  expect(responsesChoice({ type: "function", name: "git__log" }, request)).toEqual(log);
  expect(responsesChoice({ type: "shell" }, request).named).toEqual([
    { type: "shell", name: "shell" },
  ]);
  expect(outcomeOf(() => responsesChoice({ type: "shell" }))).toBe("400 invalid_value tool_choice");
});

describe("a choice that cannot be followed is refused", () => {
  test.each([
    ["maybe", "invalid_value tool_choice"],
    [5, "invalid_type tool_choice"],
    [[], "invalid_type tool_choice"],
    [{}, "missing_required_parameter tool_choice.type"],
    [{ type: "web_search" }, "invalid_value tool_choice.type"],
    [{ type: "function" }, "missing_required_parameter tool_choice.name"],
    [{ type: "function", name: "cat" }, "invalid_value tool_choice"],
    [{ type: "custom", name: "ls" }, "invalid_value tool_choice"],
    [{ type: "allowed_tools", tools: [] }, "missing_required_parameter tool_choice.mode"],
    [{ type: "allowed_tools", mode: "none", tools: [] }, "invalid_value tool_choice.mode"],
    [{ type: "allowed_tools", mode: "auto", tools: [] }, "invalid_value tool_choice.tools"],
    [{ type: "allowed_tools", mode: "auto" }, "missing_required_parameter tool_choice.tools"],
    [{ type: "allowed_tools", mode: "auto", tools: [5] }, "invalid_type tool_choice.tools[0]"],
  ])("%j", (choice, error) => {
    expect(outcomeOf(() => responsesChoice(choice))).toBe(`400 ${error}`);
  });

  test("a call is required, but there is nothing to call", () => {
    expect(outcomeOf(() => responsesChoice("required", {}))).toBe("400 invalid_value tool_choice");
    const hosted = { tools: [{ type: "web_search" }] };
    expect(outcomeOf(() => responsesChoice("required", hosted))).toBe(
      "400 invalid_value tool_choice",
    );
  });
});
