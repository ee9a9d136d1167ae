/**
 * Mutated chat templates and histories through what the server does with them: compile, probe, render.
 * `node --import tsx fuzz/templates.ts SECONDS [SEED]`. Each input runs in a child process with a deadline; a
 * finding is anything but a rendering or a TemplateError: another error, or no answer in time. Findings
 * are written to fuzz/scratch/templates. The same seed makes the same inputs.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { loadAddon } from "../src/native/load-addon.ts";
import { loadTextModel } from "../src/text/load-text-model.ts";
import { TemplateError } from "../src/text/text-errors.ts";
import type { ChatMessage, ChatTool } from "../src/text/text-types.ts";
import { seededRandom } from "../test/seeded-random.ts";
import { makeInspection } from "../test/unit/text/inspections.ts";

const ROOT = path.resolve(import.meta.dirname, "..");
const SCRATCH = path.join(import.meta.dirname, "scratch/templates");
/** A render is bounded by its own step count, a few seconds; this is for machines that are busy. */
const DEADLINE_MS = 120_000;
const MAX_EDITS = 6;

interface Input {
  readonly source: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
}

/** "ok", "refused", or what went wrong. */
type Outcome = string;

type Random = () => number;

// ---- Child: one input at a time

function serveInputs(): void {
  process.on("message", (input: Input) => process.send?.(tryInput(input)));
}

function tryInput({ source, messages, tools }: Input): Outcome {
  const outcomes = ["qwen2", "llama3-rope"].map((tokenizer) => {
    const folder = path.join(ROOT, "test/golden/tokenizers", tokenizer);
    try {
      const model = loadTextModel(folder, makeInspection({}), { chatTemplate: source });
      model.chatTemplate?.render(messages, { tools, addGenerationPrompt: true, date: new Date(0) });
      return "ok";
    } catch (error) {
      if (error instanceof TemplateError) return "refused";
      return error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
  });
  return outcomes.find((outcome) => outcome !== "ok" && outcome !== "refused") ?? outcomes[0] ?? "";
}

// ---- Main thread: makes inputs, watches the clock

async function main(): Promise<void> {
  const [seconds = "600", seed = "1"] = process.argv.slice(2);
  loadAddon(); // encodes for every input: a build that has none is no finding
  const random = seededRandom(Number(seed));
  const sources = readSources();
  const endMs = Date.now() + Number(seconds) * 1000;
  const counts = new Map<string, number>();
  let numFindings = 0;
  let child = startChild();
  while (Date.now() < endMs) {
    const input = makeInput(sources, random);
    const outcome = await outcomeOf(child, input);
    const isExpected = outcome === "ok" || outcome === "refused";
    const kind = isExpected ? outcome : "finding";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (isExpected) continue;
    record(input, outcome, ++numFindings);
    child.kill("SIGKILL");
    child = startChild();
  }
  child.kill("SIGKILL");
  const summary = [...counts].map(([kind, count]) => `${count} ${kind}`).join(", ");
  console.log(`templates: seed ${seed}, ${summary}`);
  process.exitCode = numFindings === 0 ? 0 : 1;
}

function startChild(): ChildProcess {
  const execArgv = ["--import", "tsx", "--max-old-space-size=2048"];
  return fork(import.meta.filename, ["child"], { execArgv });
}

function outcomeOf(child: ChildProcess, input: Input): Promise<Outcome> {
  return new Promise((resolve) => {
    const settle = (outcome: Outcome): void => {
      clearTimeout(timer);
      child.removeAllListeners();
      resolve(outcome);
    };
    const timer = setTimeout(() => settle(`no answer in ${DEADLINE_MS} ms`), DEADLINE_MS);
    child.once("message", settle);
    child.once("exit", (code, signal) => settle(`the child died: ${signal ?? code}`));
    child.send(input);
  });
}

function record(input: Input, outcome: Outcome, index: number): void {
  mkdirSync(SCRATCH, { recursive: true });
  const file = path.join(SCRATCH, `finding-${index}.json`);
  writeFileSync(file, JSON.stringify({ outcome, ...input }, null, 1));
  console.log(`finding ${index}: ${outcome.split("\n")[0]} (${file})`);
}

/** Our own templates, and those of public models where WARMLOOP_TEST_DATA has them. */
function readSources(): readonly string[] {
  const data = process.env.WARMLOOP_TEST_DATA;
  const folders = [path.join(ROOT, "test/golden/chat")];
  if (data !== undefined) folders.push(path.join(data, "templates"));
  return folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".jinja"))
      .map((name) => readFileSync(path.join(folder, name), "utf8")),
  );
}

// ---- Mutations

const SNIPPETS = [
  "{% for m in messages %}",
  "{% endfor %}",
  "{% if messages %}",
  "{% endif %}",
  "{{ messages }}",
  "{{ tools | tojson }}",
  "{{ range(99999) }}",
  "{{ messages[0].content * 9 }}",
  "{% set ns = namespace(x=messages) %}",
  "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}",
  "{{ raise_exception('x') }}",
  "{{ strftime_now('%Y%q%') }}",
  "{{ none.x.y }}",
  "| length",
  "| map(attribute='role') | list",
  "[::-1]",
  "[1:0:-1]",
  "loop.previtem",
  "-%}",
  "{#",
  "'",
  "\\",
  "\ud800",
  "9".repeat(400),
] as const;

function makeInput(sources: readonly string[], random: Random): Input {
  const source = pick(sources, random) ?? "";
  return {
    source: random() < 0.8 ? mutateText(source, sources, random) : source,
    messages: Array.from({ length: Math.floor(random() * 8) }, () => makeMessage(random)),
    tools: random() < 0.5 ? [] : [makeTool(random)],
  };
}

/** Deletes, doubles, swaps in snippets or pieces of another template. */
function mutateText(text: string, others: readonly string[], random: Random): string {
  let mutated = text;
  for (let edits = 1 + Math.floor(random() * MAX_EDITS); edits > 0; edits--) {
    const at = Math.floor(random() * (mutated.length + 1));
    const length = Math.floor(random() ** 3 * 200);
    const [head, tail] = [mutated.slice(0, at), mutated.slice(at + length)];
    const other = pick(others, random) ?? "";
    const from = Math.floor(random() * other.length);
    const middles = [
      "",
      mutated.slice(at, at + length).repeat(2),
      pick(SNIPPETS, random) ?? "",
      other.slice(from, from + length),
      String.fromCharCode(Math.floor(random() * 0x10000)),
    ];
    mutated = head + (pick(middles, random) ?? "") + tail;
  }
  return mutated;
}

const TEXTS = ["", "q", "<|im_end|>", "\u0000", "\ud800", "a\n\n", "{{ x }}", "</think>", "é🙂"];
const ARGUMENTS = ["{}", "", '{"a": 1}', '["x"]', '{"a": ', "null", '{"__proto__": 1}'];

function makeMessage(random: Random): ChatMessage {
  const roles = ["system", "developer", "user", "assistant", "tool"] as const;
  const role = pick(roles, random) ?? "user";
  const content = pick(TEXTS, random) ?? "";
  if (role === "tool") return { role, content, tool_call_id: pick(TEXTS, random) ?? "" };
  if (role !== "assistant" || random() < 0.5) return { role, content };
  const call = {
    id: pick(TEXTS, random) ?? "",
    type: "function" as const,
    function: { name: pick(TEXTS, random) ?? "", arguments: pick(ARGUMENTS, random) ?? "" },
  };
  return { role, content, reasoning_content: pick(TEXTS, random) ?? "", tool_calls: [call, call] };
}

function makeTool(random: Random): ChatTool {
  const parameters = pick([undefined, {}, { type: "object" }, [], "x", null], random);
  return { type: "function", function: { name: pick(TEXTS, random) ?? "", parameters } };
}

function pick<T>(options: readonly T[], random: Random): T | undefined {
  return options[Math.floor(random() * options.length)];
}

if (process.argv[2] === "child") serveInputs();
else await main();
