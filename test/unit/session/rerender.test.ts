/**
 * The invariant behind lanes: whatever chain of turns, branches, lost sequences and caps led to a
 * prompt, its tokens are those of the whole conversation rendered and encoded anew, as long as the
 * model spells its words as the tokenizer does.
 */
import { describe, expect, it } from "vitest";
import type {
  ContextItem,
  FunctionTool,
  ResponseObject,
} from "../../../src/protocol/responses-types.ts";
import { toChatMessages } from "../../../src/session/chat-messages.ts";
import { toChatTools } from "../../../src/session/chat-tools.ts";
import { extendContext, outputToInput } from "../../../src/session/context-items.ts";
import type { DeltaRender } from "../../../src/session/prompt-composer.ts";
import { createSessionService } from "../../../src/session/session-service.ts";
import type { TurnContext } from "../../../src/session/session-types.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import type { RenderedText, TextModel } from "../../../src/text/text-types.ts";
import { seededRandom } from "../../seeded-random.ts";
import { FIXTURES, loadFixtureGguf } from "../text/text-fixtures.ts";
import { FakeClock } from "./fake-clock.ts";
import { FakeEndpoint, type ScriptedTurn } from "./fake-endpoint.ts";
import { createFakeTextModel, IM_END } from "./fake-text-model.ts";
import { makeRequest, userMessage, weatherTool } from "./session-fixture.ts";

const WORDS = ["one", "two", "Paris.", "\n", "{", "<|im_end|>", "naïve", "🙂", "a b", "12,345"];
const NUM_TURNS = 40;

const searchTool: FunctionTool = { ...weatherTool, type: "tool_search", name: "tool_search" };
const HEAD_TOOLS = [weatherTool, searchTool];

interface Subject {
  readonly textModel: TextModel;
  readonly encode: (text: RenderedText) => Int32Array;
  /** Ids of an output text, without its end. */
  readonly sample: (text: string) => Int32Array;
  readonly endId: number;
}

interface Known {
  readonly response: ResponseObject;
  readonly items: readonly ContextItem[];
  readonly streamId: string | undefined;
}

class Conversation {
  readonly #subject: Subject;
  readonly #random: () => number;
  readonly #endpoint: FakeEndpoint;
  readonly #session;
  readonly #connection;
  readonly #known: Known[] = [];
  numContinued = 0;

  constructor(subject: Subject, seed: number, deltaRender: DeltaRender) {
    this.#subject = subject;
    this.#random = seededRandom(seed);
    this.#endpoint = new FakeEndpoint(subject.sample, 1_000_000);
    this.#session = createSessionService({
      modelId: "m",
      textModel: subject.textModel,
      endpoint: this.#endpoint,
      metrics: createMetrics({ modelId: "m" }),
      clock: new FakeClock(),
      deltaRender,
    });
    this.#connection = this.#session.openConnection("default");
  }

  async turn(): Promise<void> {
    if (this.#random() < 0.1) {
      this.#endpoint.loseSequences(this.#random() < 0.5 ? "blocks stay" : "blocks evicted");
    }
    const parent = this.#random() < 0.9 ? this.#pick(this.#known.slice(-6)) : undefined;
    const streamId = this.#random() < 0.7 ? parent?.streamId : this.#pick(["left", "right"]);
    const input = this.#input(parent);
    const sendsAll = this.#random() < 0.25;
    const request = makeRequest({
      input: sendsAll ? [...(parent?.items ?? []), ...input] : input,
      instructions: "Help.",
      callableTools: HEAD_TOOLS,
      previousResponseId: sendsAll ? null : (parent?.response.id ?? null),
      generate: this.#random() > 0.1,
    });
    if (request.generate) this.#endpoint.script.push(this.#script());
    const context: TurnContext = {
      tenant: "default",
      transport: "ws",
      connection: this.#connection,
      ...(streamId !== undefined && { streamId }),
      receivedBytes: 0,
      receivedMs: 0,
    };
    const response = await this.#session.createResponse(
      request,
      context,
      () => undefined,
      new AbortController().signal,
    );
    const items = extendContext(parent?.items ?? [], input);
    this.#check(items, request.generate);
    const known = [...items, ...outputToInput(response.output)];
    this.#known.push({ response, items: known, streamId });
  }

  #check(items: readonly ContextItem[], addGenerationPrompt: boolean): void {
    const messages = toChatMessages({ instructions: "Help.", tools: HEAD_TOOLS }, items);
    const text = this.#subject.textModel.chatTemplate?.render(messages, {
      tools: toChatTools(HEAD_TOOLS),
      addGenerationPrompt,
      date: new Date(0),
    });
    const submitted = this.#endpoint.requests.at(-1);
    if (submitted?.request.continueFrom) this.numContinued++;
    expect(submitted?.allTokens).toEqual([...this.#subject.encode(text ?? ("" as RenderedText))]);
  }

  #input(parent: Known | undefined): readonly ContextItem[] {
    const outputs = (parent?.response.output ?? []).flatMap((item): ContextItem[] | ContextItem => {
      if (item.type === "tool_search_call") {
        return { type: "tool_search_output", call_id: item.call_id, tools: this.#tools() };
      }
      return item.type === "function_call"
        ? { type: "function_call_output", call_id: item.call_id, output: this.#words() }
        : [];
    });
    const isLate = parent !== undefined && parent.items.length > 0 && this.#random() < 0.2;
    const late: ContextItem[] = isLate ? [{ type: "additional_tools", tools: this.#tools() }] : [];
    return outputs.length > 0 ? [...outputs, ...late] : [...late, userMessage(this.#words())];
  }

  #tools(): readonly FunctionTool[] {
    const name = this.#pick(["read", "write", "get_weather"]) ?? "";
    const description = this.#words();
    return this.#random() < 0.2 ? [] : [{ ...weatherTool, name, description }];
  }

  #script(): ScriptedTurn {
    const { sample, endId } = this.#subject;
    if (this.#random() < 0.4) {
      const name = this.#pick(HEAD_TOOLS)?.name ?? "";
      const json = '{"city":"Oslo"}';
      const raw = `<tool_call>\n{"name": "${name}", "arguments": ${json}}\n</tool_call>`;
      return {
        steps: [
          [{ type: "call_start", name }],
          [{ type: "call_arguments", delta: json }],
          [{ type: "call_end" }],
        ],
        tokens: [...sample(raw), endId],
      };
    }
    const text = `Well, ${this.#words()}`;
    const isCapped = this.#random() < 0.2;
    return {
      steps: [[{ type: "text", delta: text }]],
      tokens: isCapped ? [...sample(text)] : [...sample(text), endId],
      finish: isCapped ? "length" : "stop",
    };
  }

  #words(): string {
    const numWords = 1 + Math.floor(this.#random() * 6);
    return Array.from({ length: numWords }, () => this.#pick(WORDS)).join(" ");
  }

  #pick<T>(options: readonly T[]): T | undefined {
    return options[Math.floor(this.#random() * options.length)];
  }
}

function fakeSubject(): Subject {
  const textModel = createFakeTextModel();
  return {
    textModel,
    encode: (text) => textModel.tokenizer.ids(text),
    sample: (text) => textModel.tokenizer.ids(textModel.chatTemplate.guard(text)),
    endId: IM_END,
  };
}

/** A fixture tokenizer with the template of its checkpoint. */
function fixtureSubject(name: string): Subject {
  const textModel = loadFixtureGguf(name);
  const { tokenizer } = textModel;
  const [endId = 0] = tokenizer.encodePlain("<|im_end|>", { parseSpecial: true, addBos: false });
  return {
    textModel,
    encode: (text) => tokenizer.encode(text, { addBos: false }),
    sample: (text) => tokenizer.encodePlain(text, { parseSpecial: false, addBos: false }),
    endId,
  };
}

describe("prompts of chains", () => {
  it.each<[number, DeltaRender]>([
    [1, "on"],
    [2, "on"],
    [3, "on"],
    [4, "off"],
    [5, "check"],
    [6, "check"],
  ])("equal the whole conversation encoded anew (seed %i, delta render %s)", async (seed, mode) => {
    const conversation = new Conversation(fakeSubject(), seed, mode);
    for (let turn = 0; turn < NUM_TURNS; turn++) await conversation.turn();
    expect(conversation.numContinued).toBeGreaterThan(NUM_TURNS / 5);
  });

  it.skipIf(!FIXTURES).each(["qwen2", "qwen3"])(
    "equal the whole conversation encoded anew with the tokenizer and template of %s",
    async (name) => {
      const conversation = new Conversation(fixtureSubject(name), 11, "on");
      for (let turn = 0; turn < NUM_TURNS; turn++) await conversation.turn();
      expect(conversation.numContinued).toBeGreaterThan(NUM_TURNS / 5);
    },
  );
});
