/** The 36 chat templates of public models in WARMLOOP_TEST_DATA: what they render, what they are. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { JinjaProgram } from "../../../src/text/jinja-program.ts";
import { loadTextModel } from "../../../src/text/load-text-model.ts";
import { type Rewrite, templateFacts } from "../../../src/text/template-facts.ts";
import { TemplateError } from "../../../src/text/text-errors.ts";
import { testDataFolder } from "../../fixture-models.ts";
import { makeInspection } from "./inspections.ts";
import { GOLDEN, readJson } from "./text-fixtures.ts";

const FOLDER = path.join(testDataFolder ?? "", "templates");
const TEMPLATES = testDataFolder
  ? readdirSync(FOLDER).flatMap((file) => /^(.*)\.jinja$/.exec(file)?.[1] ?? [])
  : [];

/** Where the library renders otherwise than jinja2, and why. */
const DIFFERENT: Readonly<Record<string, { readonly why: string; readonly scenarios: number }>> = {
  "ByteDance-Seed-OSS": { why: "a table with whole numbers as keys is refused", scenarios: 9 },
  "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": {
    why: "a macro trims a value that is not there",
    scenarios: 5,
  },
  "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": {
    why: "a macro trims a value that is not there",
    scenarios: 5,
  },
  "vllm-gemma3-pythonic-tools": {
    why: "a text counts as iterable, a variable set in a loop stays set",
    scenarios: 4,
  },
};

interface Scenario {
  readonly messages: readonly object[];
  readonly tools: readonly object[] | null;
  readonly add_generation_prompt: boolean;
}

interface Golden {
  readonly renders: Readonly<
    Record<string, Readonly<Record<string, { readonly text?: string; readonly error?: string }>>>
  >;
}

function source(name: string): string {
  return readFileSync(path.join(FOLDER, `${name}.jinja`), "utf8");
}

function renderOrFail(program: JinjaProgram, scenario: Scenario): string | undefined {
  const tokens = { bos_token: "[BOS]", eos_token: "[EOS]" };
  try {
    const variables = { ...tokens, documents: null, ...scenario };
    return program.render(variables, new Date("2026-01-15T12:00:00Z"));
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

test.skipIf(!testDataFolder)(
  "they render like jinja2, but for what the library does otherwise",
  () => {
    const scenarios = readJson(path.join(FOLDER, "golden-inputs.json")) as Record<string, Scenario>;
    const { renders } = readJson(path.join(FOLDER, "golden-renders.json")) as Golden;
    const different: Record<string, number> = {};
    for (const name of TEMPLATES) {
      const program = new JinjaProgram(source(name));
      for (const [scenario, input] of Object.entries(scenarios)) {
        const expected = renders[name]?.[scenario];
        const rendered = renderOrFail(program, input);
        if (rendered !== expected?.text) different[name] = (different[name] ?? 0) + 1;
      }
    }
    const known = Object.entries(DIFFERENT).map(([name, { scenarios: count }]) => [name, count]);
    expect(different).toEqual(Object.fromEntries(known));
  },
);

type Row = readonly [
  name: string,
  family: string,
  tools: string,
  calls: string,
  thinking: string | null,
  rewrites: readonly Rewrite[],
];

/** Thinking with a `+` is opened by the prompt. */
const CLASSES: readonly Row[] = [
  ["Apertus-8B-Instruct", "apertus", "own", "apertus", "apertus", ["generation prompts"]],
  ["ByteDance-Seed-OSS", "other", "text", "hermes", "seed", []],
  [
    "CohereForAI-c4ai-command-r-plus-tool_use",
    "command-r",
    "own",
    "command-r",
    null,
    ["user turns", "answers", "calls", "results"],
  ],
  [
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
    "command-r",
    "own",
    "command-r7b",
    "command-r7b",
    ["user turns", "answers", "calls", "results"],
  ],
  ["GLM-4.6", "glm", "own", "glm", "think", ["thinking"]],
  ["GLM-4.7-Flash", "glm", "own", "glm", "think+", ["generation prompts", "thinking"]],
  ["HuggingFaceTB-SmolLM3-3B", "chatml", "chatml", "hermes", "think", []],
  ["Kimi-K2-Instruct", "kimi", "own", "kimi", null, []],
  ["Kimi-K2-Thinking", "kimi", "own", "kimi", "think", []],
  ["MiniMax-M2", "minimax", "own", "minimax", "think+", ["generation prompts", "thinking"]],
  ["Mistral-Small-3.2-24B-Instruct-2506", "mistral", "own", "mistral-args", null, ["answers"]],
  ["NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", "chatml", "own", "hermes", null, ["results"]],
  ["NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "chatml", "own", "hermes", null, ["results"]],
  ["Qwen-QwQ-32B", "chatml", "own", "hermes", "think", ["generation prompts"]],
  ["Qwen-Qwen2.5-7B-Instruct", "chatml", "own", "hermes", null, []],
  ["Qwen-Qwen3-0.6B", "chatml", "own", "hermes", "think", ["answers", "calls", "thinking"]],
  ["Qwen3-Coder", "chatml", "own", "qwen-coder", null, []],
  ["Qwen3.5-4B", "chatml", "own", "qwen-coder", "think+", ["answers", "thinking"]],
  [
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
    "deepseek",
    "text",
    "hermes",
    "think+",
    ["generation prompts"],
  ],
  [
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
    "deepseek",
    "text",
    "hermes",
    "think",
    ["generation prompts"],
  ],
  ["deepseek-ai-DeepSeek-V3.1", "deepseek", "text", "hermes", "think", []],
  ["deepseek-ai-DeepSeek-V3.2", "deepseek", "own", "dsml", "think", ["generation prompts"]],
  ["google-gemma-2-2b-it", "gemma", "text", "hermes", null, []],
  ["google-gemma-4-31B-it", "gemma", "own", "gemma", "gemma", ["generation prompts"]],
  ["ibm-granite-granite-3.3-2B-Instruct", "granite", "own", "granite", "granite", []],
  ["ibm-granite-granite-4.0", "granite", "own", "hermes", null, []],
  ["meta-llama-Llama-3.1-8B-Instruct", "llama3", "own", "llama", null, []],
  ["meta-llama-Llama-3.2-3B-Instruct", "llama3", "own", "llama", null, []],
  ["meta-llama-Llama-3.3-70B-Instruct", "llama3", "own", "llama", null, []],
  ["microsoft-Phi-3.5-mini-instruct", "phi", "text", "hermes", null, ["answers", "calls"]],
  ["mistralai-Ministral-3-14B-Reasoning-2512", "mistral", "own", "mistral-args", "mistral", []],
  ["mistralai-Mistral-Nemo-Instruct-2407", "mistral", "own", "mistral", null, ["answers"]],
  ["moonshotai-Kimi-K2", "kimi", "own", "kimi", null, []],
  ["openai-gpt-oss-120b", "harmony", "own", "harmony", "harmony", ["answers", "thinking"]],
  ["unsloth-mistral-Devstral-Small-2507", "mistral", "own", "mistral-args", null, []],
  ["vllm-gemma3-pythonic-tools", "gemma", "own", "pythonic", null, []],
];

test.skipIf(!testDataFolder)("each is classified", () => {
  const rows = TEMPLATES.map((name): Row => {
    const facts = factsOf(source(name));
    const thinking =
      facts.thinking && facts.thinking.format + (facts.thinking.isOpenedByPrompt ? "+" : "");
    return [name, facts.family, facts.tools, facts.calls, thinking, facts.rewrites];
  });
  expect(rows).toEqual(CLASSES);
});

test.skipIf(!testDataFolder)("only one of them cannot be rendered at all", () => {
  const failures = TEMPLATES.filter((name) => factsOf(source(name)).failure !== null);
  expect(failures).toEqual(["ByteDance-Seed-OSS"]);
});

/** A vocabulary with ChatML's markers only where the template has them. */
function factsOf(chatTemplate: string) {
  const vocabulary = chatTemplate.includes("<|im_start|>") ? "qwen2" : "llama3-rope";
  const folder = path.join(GOLDEN, "tokenizers", vocabulary);
  const model = loadTextModel(folder, makeInspection({}), { chatTemplate });
  if (model.chatTemplate === undefined) throw new Error("no template");
  return templateFacts(model.chatTemplate);
}
