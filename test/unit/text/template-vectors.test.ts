import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { JinjaProgram } from "../../../src/text/jinja-program.ts";
import { TemplateError } from "../../../src/text/text-errors.ts";
import { FIXTURES, GOLDEN, readJson } from "./text-fixtures.ts";

interface ChatVectors {
  readonly templates: Readonly<
    Record<
      string,
      { readonly file: string; readonly bos: string | null; readonly eos: string | null }
    >
  >;
  readonly cases: readonly {
    readonly template: string;
    readonly conversation: string;
    readonly add_generation_prompt: boolean;
    readonly rendered?: string;
    readonly error?: string;
  }[];
}

/**
 * Renders the cases of a vectors file, but for those whose content is a list of parts: here content is
 * always one string. What came out otherwise than with transformers, by label.
 */
function compareVectors(folder: string): {
  readonly different: readonly string[];
  readonly accepted: readonly string[];
} {
  const vectors = readJson(path.join(folder, "vectors.json")) as ChatVectors;
  const conversations = readJson(path.join(folder, "conversations.json")) as Record<
    string,
    { readonly messages: object[]; readonly tools?: object[]; readonly kwargs?: object }
  >;
  const date = new Date("2025-01-02T03:04:05Z");
  const different: string[] = [];
  const accepted: string[] = [];
  for (const [name, { file, bos, eos }] of Object.entries(vectors.templates)) {
    const program = new JinjaProgram(readTemplate(folder, file));
    const tokens = { bos_token: bos ?? undefined, eos_token: eos ?? undefined };
    const ofTemplate = vectors.cases.filter((entry) => entry.template === name);
    for (const item of ofTemplate.filter((entry) => entry.conversation !== "parts")) {
      const { messages, tools = null, kwargs } = conversations[item.conversation]!;
      const { add_generation_prompt } = item;
      const variables = { ...tokens, messages, tools, documents: null, add_generation_prompt };
      const rendered = renderOrFail(program, { ...variables, ...kwargs }, date);
      const label = `${name} ${item.conversation}`;
      if (item.error === undefined && rendered !== item.rendered) different.push(label);
      if (item.error !== undefined && rendered !== undefined) accepted.push(label);
    }
  }
  return { different, accepted };
}

function readTemplate(folder: string, file: string): string {
  const committed = path.join(folder, path.basename(file));
  return readFileSync(existsSync(committed) ? committed : path.join(folder, file), "utf8");
}

function renderOrFail(program: JinjaProgram, variables: object, date: Date): string | undefined {
  try {
    return program.render({ ...variables }, date);
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

test("our own templates render like transformers", () => {
  expect(compareVectors(path.join(GOLDEN, "chat"))).toEqual({ different: [], accepted: [] });
});

test.skipIf(!FIXTURES)("templates of public models render like transformers", () => {
  const { different, accepted } = compareVectors(path.join(FIXTURES ?? "", "chat"));
  // These print a list or a boolean argument as it is, which Python and the library do differently.
  expect(new Set(different)).toEqual(
    new Set(["Qwen3-Coder parallel-calls", "GLM-4.6 tool-round-answered"]),
  );
  expect(accepted).toEqual([]);
});
