/** New items rendered alone: what is rendered, and that it is the same, with templates of public models. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ApiError } from "../../../src/protocol/api-error.ts";
import type { ContextItem, Role } from "../../../src/protocol/responses-types.ts";
import { commonTurns } from "../../../src/session/common-turns.ts";
import { continuationSuffix } from "../../../src/session/delta-render.ts";
import {
  DeltaRenderer,
  type RenderItems,
  unguardedThoughtEnd,
} from "../../../src/session/delta-renderer.ts";
import type { PromptHead } from "../../../src/session/lane-state.ts";
import type { ParentItems } from "../../../src/session/minimal-frame.ts";
import { renderItems } from "../../../src/session/render-items.ts";
import { loadTextModel } from "../../../src/text/load-text-model.ts";
import { testDataFolder } from "../../fixture-models.ts";
import { seededRandom } from "../../seeded-random.ts";
import { makeInspection } from "../text/inspections.ts";
import { GOLDEN } from "../text/text-fixtures.ts";
import { createFakeTemplate } from "./fake-text-model.ts";
import { weatherTool } from "./session-fixture.ts";

const FOLDER = path.join(testDataFolder ?? "", "templates");
const TEMPLATES = testDataFolder
  ? readdirSync(FOLDER)
      .flatMap((file) => /^(.*)\.jinja$/.exec(file)?.[1] ?? [])
      .filter((name) => name !== "ByteDance-Seed-OSS") // cannot be rendered at all
  : [];
const NUM_CONVERSATIONS = 4;
const NUM_TURNS = 8;
const MOST_TURNS = (NUM_CONVERSATIONS * NUM_TURNS) / 2;
const TEXTS = ["", "Yes.", " two\nlines ", "naïve 🙂", '{"a": 1}', "<|im_end|>", "x </think> y"];

interface Turn {
  readonly parent: ParentItems;
  readonly items: readonly ContextItem[];
  readonly addGenerationPrompt: boolean;
}

/** A vocabulary with ChatML's markers only where the template has them. */
function templateOf(name: string) {
  const chatTemplate = readFileSync(path.join(FOLDER, `${name}.jinja`), "utf8");
  const vocabulary = chatTemplate.includes("<|im_start|>") ? "qwen2" : "llama3-rope";
  const folder = path.join(GOLDEN, "tokenizers", vocabulary);
  const model = loadTextModel(folder, makeInspection({}), { chatTemplate });
  if (model.chatTemplate === undefined) throw new Error("no template");
  return model.chatTemplate;
}

function say(role: Role, text: string): ContextItem {
  const type = role === "assistant" ? "output_text" : "input_text";
  return { type: "message", role, content: [{ type, text }] };
}

class Talk {
  readonly #random: () => number;
  readonly #hasThinking: boolean;
  readonly #hasTools: boolean;
  #numCalls = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#hasThinking = this.#random() < 0.5;
    this.#hasTools = this.#random() < 0.7;
  }

  turns(): { readonly head: PromptHead; readonly turns: readonly Turn[] } {
    const instructions = this.#random() < 0.5 ? "Help." : null;
    const tools = this.#hasTools ? [weatherTool, { ...weatherTool, name: "read_file" }] : [];
    const head = { instructions, tools, date: new Date(0), reasoningEffort: undefined };
    const turns: Turn[] = [];
    let items: readonly ContextItem[] = [say("user", this.#text())];
    for (let turn = 0; turn < NUM_TURNS; turn++) {
      const generation = this.#random() < 0.1 ? ("none" as const) : ("whole" as const);
      const output = generation === "none" ? [] : this.#output();
      const numPromptItems = items.length;
      const parent = { head, items: [...items, ...output], numPromptItems, generation };
      items = [...parent.items, ...this.#input(output)];
      turns.push({ parent, items, addGenerationPrompt: this.#random() < 0.9 });
    }
    return { head, turns };
  }

  #output(): readonly ContextItem[] {
    const thinks = this.#hasThinking && this.#random() < 0.7;
    const thought: ContextItem[] = thinks ? [{ type: "reasoning", text: "Hm. " }] : [];
    if (!this.#hasTools || this.#random() < 0.4)
      return [...thought, say("assistant", this.#text())];
    const spoken = this.#random() < 0.3 ? [say("assistant", this.#text())] : [];
    const numCalls = this.#random() < 0.7 ? 1 : 2;
    return [...thought, ...spoken, ...Array.from({ length: numCalls }, () => this.#call())];
  }

  #call(): ContextItem {
    const args = this.#random() < 0.9 ? `{"city": "${this.#numCalls}"}` : "not JSON";
    const call_id = `call_${++this.#numCalls}`;
    return { type: "function_call", call_id, name: weatherTool.name, arguments: args };
  }

  #input(output: readonly ContextItem[]): readonly ContextItem[] {
    const results = output.flatMap((item): ContextItem | [] =>
      item.type === "function_call"
        ? { type: "function_call_output", call_id: item.call_id, output: this.#text() }
        : [],
    );
    const rule = this.#random() < 0.1 ? [say("developer", this.#text())] : [];
    const late: ContextItem[] =
      this.#random() < 0.1 ? [{ type: "additional_tools", tools: [weatherTool] }] : [];
    const question = results.length === 0 || this.#random() < 0.2;
    const answered = this.#random() < 0.1 ? [say("assistant", this.#text())] : [];
    const asked = question ? [say("user", this.#text())] : [];
    const begun = this.#random() < 0.1 ? [say("assistant", this.#text())] : [];
    return [...results, ...rule, ...late, ...answered, ...asked, ...begun];
  }

  #text(): string {
    return TEXTS[Math.floor(this.#random() * TEXTS.length)] ?? "";
  }
}

/** What closes an answer. */
function endMarkerOf(render: RenderItems): string {
  const answer = "THE ANSWER";
  const head = { instructions: null, tools: [], date: new Date(0), reasoningEffort: undefined };
  const text = render(head, [say("user", "Q"), say("assistant", answer)], false);
  const end = text.slice(text.lastIndexOf(answer) + answer.length);
  return /^\s*(<[^>]+>|\[[^\]]+\])/.exec(end)?.[1] ?? "[EOS]";
}

function wholeSuffix(
  render: RenderItems,
  { parent, items, addGenerationPrompt }: Turn,
  end: string,
) {
  const { head, numPromptItems, generation } = parent;
  const closed = render(head, parent.items, false);
  const parentText =
    generation === "none"
      ? { promptText: closed, closedText: undefined }
      : {
          promptText: render(head, parent.items.slice(0, numPromptItems), true),
          closedText: closed,
        };
  return continuationSuffix(parentText, render(head, items, addGenerationPrompt), [end]);
}

/** undefined: the template refuses the conversation. */
function wholeOrRefusal(render: RenderItems, turn: Turn, end: string) {
  try {
    return { suffix: wholeSuffix(render, turn, end) };
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

interface Counts {
  /** Turns that go on behind their parents. */
  readonly continued: number;
  /** Those of them that were rendered from the new items. */
  readonly alone: number;
}

function compare(name: string): Counts {
  const template = templateOf(name);
  const render: RenderItems = (...conversation) => renderItems(template, ...conversation);
  let [continued, alone] = [0, 0];
  for (let seed = 0; seed < NUM_CONVERSATIONS; seed++) {
    const { head, turns } = new Talk(seed).turns();
    const end = endMarkerOf(render);
    const deltas = new DeltaRenderer(render, {
      endMarkers: [end],
      thoughtEnd: unguardedThoughtEnd(template),
    });
    for (const turn of turns) {
      const whole = wholeOrRefusal(render, turn, end);
      const delta = deltas.suffix({ ...turn, head });
      if (delta !== undefined) expect(delta, `conversation ${seed}`).toBe(whole?.suffix);
      if (whole === undefined) break; // as a server does: there is no turn behind it
      continued += whole.suffix === undefined ? 0 : 1;
      alone += delta === undefined ? 0 : 1;
    }
  }
  return { continued, alone };
}

describe.skipIf(!testDataFolder)("new items rendered alone (WARMLOOP_TEST_DATA)", () => {
  it.each(TEMPLATES)("are what they are in the whole conversation: %s", (name) => {
    const { continued, alone } = compare(name);
    // Templates that rewrite history leave little to compare.
    if (continued > MOST_TURNS) expect(alone / continued).toBeGreaterThan(0.75);
  });
});

describe("new items behind a template of our own", () => {
  const template = createFakeTemplate();
  const lengths: number[] = [];
  const render: RenderItems = (head, items, addGenerationPrompt) => {
    lengths.push(items.length);
    return renderItems(template, head, items, addGenerationPrompt);
  };
  const head = { instructions: null, tools: [], date: new Date(0), reasoningEffort: undefined };
  const long = Array.from({ length: 50 }, (_, n) => say(n % 2 ? "assistant" : "user", `${n}`));

  function turnBehind(past: readonly ContextItem[], added: readonly ContextItem[]) {
    const prompt = past.findLastIndex((item) => item.type === "message" && item.role === "user");
    const parent = { head, items: past, numPromptItems: prompt + 1, generation: "whole" as const };
    return { head, parent, items: [...past, ...added], addGenerationPrompt: true };
  }

  const renderer = () =>
    new DeltaRenderer(render, { endMarkers: ["<|im_end|>"], thoughtEnd: undefined });

  it("are rendered without the conversation before them", () => {
    lengths.length = 0;
    const suffix = renderer().suffix(turnBehind(long, [say("user", "next")]));
    expect(suffix).toBe("<|im_end|>\n<|im_start|>user\nnext<|im_end|>\n<|im_start|>assistant\n");
    expect(Math.max(...lengths)).toBeLessThan(10);
  });

  it("are tried once for each shape of a turn", () => {
    const deltas = renderer();
    deltas.suffix(turnBehind(long, [say("user", "next")]));
    lengths.length = 0;
    deltas.suffix(turnBehind(long.slice(0, 20), [say("user", "another")]));
    expect(lengths).toEqual([3, 2]);
  });

  it("are not tried again where the turn is a common one", () => {
    const deltas = renderer();
    for (const turn of commonTurns(true)) expect(deltas.suffix(turn)).toBeDefined();
    lengths.length = 0;
    deltas.suffix(turnBehind(long, [say("user", "next")]));
    expect(lengths).toEqual([3, 2]);
  });

  it("may follow an output behind words of the assistant that a client sent", () => {
    const past = [
      ...long,
      say("user", "Say it."),
      say("assistant", "Well:"),
      say("assistant", "It."),
    ];
    const { head, ...turn } = turnBehind(past, [say("user", "next")]);
    const begun = { ...turn, parent: { ...turn.parent, numPromptItems: past.length - 1 } };
    lengths.length = 0;
    const suffix = renderer().suffix({ head, ...begun });
    expect(Math.max(...lengths)).toBeLessThan(12);
    expect(suffix).toBe(wholeSuffix(render, begun, "<|im_end|>"));
    expect(suffix).toBeDefined();
  });

  it("may be tools, shown as the definitions before them have it", () => {
    const deferred = { ...weatherTool, name: "hidden", isDeferred: true as const };
    const late: ContextItem = { type: "additional_tools", tools: [weatherTool, deferred] };
    const search: ContextItem = {
      type: "additional_tools",
      tools: [{ ...weatherTool, name: "tool_search", type: "tool_search" }],
    };
    for (const past of [long, [...long.slice(0, 20), search, ...long.slice(20)]]) {
      const turn = turnBehind(past, [late, say("user", "next")]);
      lengths.length = 0;
      const suffix = renderer().suffix(turn);
      expect(Math.max(...lengths)).toBeLessThan(10);
      expect(suffix).toBe(wholeSuffix(render, turn, "<|im_end|>"));
      expect(suffix?.includes("hidden")).toBe(past === long);
    }
  });

  it("need the whole conversation where the template rewrites it", () => {
    const rewriting = createFakeTemplate();
    rewriting.rewrite = (messages) =>
      messages.map((message, index) =>
        index < messages.length - 2 ? { ...message, content: "…" } : message,
      );
    const deltas = new DeltaRenderer((...args) => renderItems(rewriting, ...args), {
      endMarkers: ["<|im_end|>"],
      thoughtEnd: undefined,
    });
    expect(deltas.suffix(turnBehind(long, [say("user", "next")]))).toBeUndefined();
  });

  it.each<[string, readonly ContextItem[], readonly ContextItem[]]>([
    [
      "a result of an older call",
      long,
      [{ type: "function_call_output", call_id: "a", output: "" }],
    ],
    ["a first question", [say("assistant", "Welcome.")], [say("user", "next")]],
    [
      "a question behind thinking",
      [...long.slice(0, 49), { type: "reasoning", text: "Hm." }, say("assistant", "So.")],
      [say("user", "next")],
    ],
  ])("need the whole conversation for %s", (_name, past, added) => {
    expect(renderer().suffix(turnBehind(past, added))).toBeUndefined();
  });

  it("need the whole conversation when they do not extend their parent", () => {
    const turn = turnBehind(long, [say("user", "next")]);
    expect(renderer().suffix({ ...turn, items: turn.items.slice(2) })).toBeUndefined();
  });
});
