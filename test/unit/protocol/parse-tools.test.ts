import { describe, expect, test } from "vitest";
import { parseResponsesRequest } from "../../../src/protocol/responses-request.ts";
import { outcomeOf } from "./outcome-of.ts";

function parse(tools: readonly unknown[]) {
  return parseResponsesRequest({ model: "m", input: "hi", tools }, "http");
}

function namesOf(tools: readonly unknown[]) {
  return parse(tools).callableTools.map(({ name }) => name);
}

const ls = { type: "function", name: "ls" };
const patch = { type: "custom", name: "patch" };

function namespace(name: string, ...tools: readonly unknown[]) {
  return { type: "namespace", name, description: `Tools of ${name}`, tools };
}

describe("namespaces", () => {
  test("members are called by one flat name and keep their place", () => {
    const tools = [ls, namespace("files", ls, patch, { type: "web_search" }), namespace("git", ls)];
    expect(namesOf(tools)).toEqual(["ls", "files__ls", "files__patch", "git__ls"]);
    expect(parse(tools).callableTools[2]).toMatchObject({
      type: "custom",
      member: { namespace: "files", name: "patch" },
      path: "tools[1].tools[1]",
    });
    expect(parse(tools).tools).toEqual(tools);
  });

  test("the members of one namespace may come in two entries", () => {
    expect(namesOf([namespace("a", ls), namespace("a", patch)])).toEqual(["a__ls", "a__patch"]);
    expect(namesOf([namespace("ls", ls), ls])).toEqual(["ls__ls", "ls"]);
    expect(namesOf([namespace("empty")])).toEqual([]);
  });

  test.each([
    ["a function twice", [ls, ls], "tools[1].name"],
    ["a function and a custom tool", [ls, { ...patch, name: "ls" }], "tools[1].name"],
    ["a member twice", [namespace("a", ls, ls)], "tools[0].tools[1].name"],
    ["a member of two entries", [namespace("a", ls), namespace("a", ls)], "tools[1].tools[0].name"],
    [
      "two that have one flat name",
      [namespace("a", ls), { ...ls, name: "a__ls" }],
      "tools[1].name",
    ],
  ])("%s cannot be told apart", (_, tools, param) => {
    expect(outcomeOf(() => parse(tools))).toBe(`400 invalid_value ${param}`);
  });

  test.each([
    ["", "invalid_value tools[0].name"],
    ["no spaces", "invalid_value tools[0].name"],
    ["x".repeat(129), "invalid_value tools[0].name"],
    [undefined, "missing_required_parameter tools[0].name"],
    [5, "invalid_type tools[0].name"],
  ])("%j is no name", (name, error) => {
    expect(outcomeOf(() => parse([{ ...ls, name }]))).toBe(`400 ${error}`);
    expect(outcomeOf(() => parse([{ ...namespace("a", ls), name }]))).toBe(`400 ${error}`);
  });

  test("a name may have 128 characters, also of a member", () => {
    const name = "x".repeat(128);
    expect(namesOf([namespace(name, { ...ls, name })])).toEqual([`${name}__${name}`]);
  });

  test("members count among the tools", () => {
    const many = Array.from({ length: 513 }, (_, index) => ({ ...ls, name: `f${index}` }));
    expect(outcomeOf(() => parse([namespace("a", ...many)]))).toBe("400 invalid_value tools");
    expect(namesOf([namespace("a", ...many.slice(1))])).toHaveLength(512);
  });
});
