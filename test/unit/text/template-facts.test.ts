import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { loadTextModel } from "../../../src/text/load-text-model.ts";
import { type TemplateFacts, templateFacts } from "../../../src/text/template-facts.ts";
import { makeInspection } from "./inspections.ts";
import { GOLDEN } from "./text-fixtures.ts";

function factsOf(chatTemplate: string): TemplateFacts {
  const folder = path.join(GOLDEN, "tokenizers/qwen2");
  const model = loadTextModel(folder, makeInspection({}), { chatTemplate });
  if (model.chatTemplate === undefined) throw new Error("no template");
  return templateFacts(model.chatTemplate);
}

test.each([
  ["own-chatml.jinja", { family: "chatml", tools: "chatml", thinking: null, appendOnly: true }],
  ["own-chatml-tools.jinja", { family: "chatml", tools: "own", rewrites: ["thinking"] }],
  ["own-header.jinja", { family: "llama3", tools: "own", appendOnly: true }],
  ["own-turns.jinja", { family: "gemma", thinking: null, appendOnly: true }],
  ["own-roles.jinja", { family: "granite", tools: "own" }],
  ["own-harmony.jinja", { family: "harmony", calls: "harmony" }],
  ["own-inst.jinja", { family: "mistral", tools: "own", calls: "mistral", appendOnly: false }],
] as const)("%s is %o", (file, expected) => {
  expect(factsOf(readFileSync(path.join(GOLDEN, "chat", file), "utf8"))).toMatchObject(expected);
});

test("a template that numbers its turns from the end rewrites history", () => {
  const facts = factsOf(
    "{% for m in messages %}{{ loop.revindex ~ m.role ~ ': ' ~ m.content }}\n{% endfor %}",
  );
  expect(facts).toMatchObject({ family: "other", appendOnly: false });
});
