/** Log probabilities of an output: which tokens they come with, and that they spell the text. */
import { describe, expect, test } from "vitest";
import type { OutputFormat } from "../../../src/text/output/output-format.ts";
import type {
  OutputDecoderOptions,
  OutputEvent,
  TextModel,
  TokenLogprob,
  TokenScore,
} from "../../../src/text/text-types.ts";
import { seededRandom } from "../../seeded-random.ts";
import { goldenModel, textOf } from "./text-fixtures.ts";

const model = goldenModel("qwen2");
const CALLS: OutputFormat = { calls: { format: "hermes", tools: [{ name: "now" }] } };

function tokensOf(text: string, { tokenizer }: TextModel = model): Int32Array {
  return tokenizer.encodePlain(text, { parseSpecial: true, addBos: false });
}

/** The score of the token at `index`: tells it apart. */
const scoreOf = (index: number): TokenScore => ({ logprob: -index, top: [] });

interface Pieces {
  readonly sizes?: () => number;
  readonly textModel?: TextModel;
}

function decode(
  ids: Int32Array,
  options: Partial<OutputDecoderOptions> = {},
  { sizes = () => 1, textModel = model }: Pieces = {},
): readonly OutputEvent[] {
  const decoder = textModel.createOutputDecoder({ stop: [], ...options });
  const events: OutputEvent[] = [];
  for (let start = 0; start < ids.length && !decoder.stopped; ) {
    const piece = ids.subarray(start, start + sizes());
    const scores = Array.from(piece, (_, index) => scoreOf(start + index));
    events.push(...decoder.push(piece, scores));
    start += piece.length;
  }
  return [...events, ...decoder.finish()];
}

function entriesOf(events: readonly OutputEvent[]): readonly TokenLogprob[] {
  return events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : []));
}

const bytesOf = (entries: readonly TokenLogprob[]) => entries.flatMap(({ bytes }) => bytes);
const spelled = (entries: readonly TokenLogprob[]) => Buffer.from(bytesOf(entries)).toString();
/** Places of the tokens that have entries. */
const placesOf = (entries: readonly TokenLogprob[]) =>
  entries.map(({ logprob }) => -(logprob ?? 0));

describe("an entry", () => {
  test("has the token's text and bytes, and those of the most likely ones", () => {
    const [id = 0, other = 0] = tokensOf("a b");
    const [end = 0] = tokensOf("<|im_end|>");
    const decoder = model.createOutputDecoder({ stop: [] });
    const top = [other, end].map((ranked) => ({ id: ranked, logprob: -1 }));
    const [event] = decoder.push(Int32Array.of(id), [{ logprob: -0.5, top }]);
    expect(event).toEqual({
      type: "text",
      delta: "a",
      logprobs: [
        {
          token: "a",
          bytes: [97],
          logprob: -0.5,
          top_logprobs: [
            { token: " b", bytes: [32, 98], logprob: -1 },
            { token: "<|im_end|>", bytes: [...Buffer.from("<|im_end|>")], logprob: -1 },
          ],
        },
      ],
    });
  });

  test("of a part of a character comes with the character, named by its bytes", () => {
    const ids = tokensOf("👍");
    expect(ids.length).toBeGreaterThan(1);
    const events = decode(ids);
    expect(events).toHaveLength(1);
    const entries = entriesOf(events);
    expect(placesOf(entries)).toEqual([...ids.keys()]);
    expect(entries.map(({ token }) => token)).toEqual(
      [...ids].map((id) => {
        const bytes = [...model.tokenizer.tokenBytes(id)];
        return `bytes:${bytes.map((byte) => `\\x${byte.toString(16)}`).join("")}`;
      }),
    );
    expect(spelled(entries)).toBe("👍");
  });

  test("of a character that the end cuts has no bytes in the text", () => {
    const ids = tokensOf("a👍");
    const entries = entriesOf(decode(ids.subarray(0, ids.length - 1)));
    expect(placesOf(entries)).toEqual([...ids.keys()].slice(0, -1));
    expect(entries.map(({ bytes }) => bytes)).toEqual([[97], ...entries.slice(1).map(() => [])]);
  });

  test("is not there without scores, nor for the end of a generation", () => {
    const ids = tokensOf("a b<|im_end|>");
    const decoder = model.createOutputDecoder({ stop: [] });
    expect(decoder.push(ids)).toEqual([{ type: "text", delta: "a b" }]);
    expect(placesOf(entriesOf(decode(ids)))).toEqual([0, 1]);
  });

  test("is there for every token where that is asked for", () => {
    const ids = tokensOf("<|im_start|>a b<|im_end|>");
    const entries = entriesOf(decode(ids, { reportsEveryToken: true }));
    expect(placesOf(entries)).toEqual([0, 1, 2, 3]);
    expect(entries.map(({ token }) => token)).toEqual(["<|im_start|>", "a", " b", "<|im_end|>"]);
    expect(spelled(entries)).toBe("a b");
  });
});

describe("text that is held back or cut", () => {
  test("entries wait with what could be a stop string", () => {
    const decoder = model.createOutputDecoder({ stop: ["</done>"] });
    const ids = tokensOf("x </do");
    const before = decoder.push(
      ids,
      Array.from(ids, (_, index) => scoreOf(index)),
    );
    const after = decoder.finish();
    expect(textOf(before)).toBe("x ");
    expect(spelled(entriesOf(before))).not.toContain("<");
    expect(spelled([...entriesOf(before), ...entriesOf(after)])).toBe("x </do");
  });

  test("a token that a stop string cuts has the bytes that are left of it", () => {
    const events = decode(tokensOf("the weather"), { stop: ["ther"] });
    expect(textOf(events)).toBe("the wea");
    const entries = entriesOf(events);
    expect(spelled(entries)).toBe("the wea");
    expect(entries.at(-1)).toMatchObject({ token: " weather", bytes: [...Buffer.from(" wea")] });
  });

  test("calls have no entries, the text around them has its own", () => {
    const call = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>';
    const events = decode(tokensOf(`Let me see.\n${call}\nDone`), { format: CALLS });
    const at = events.findIndex(({ type }) => type === "call_start");
    expect(spelled(entriesOf(events.slice(0, at)))).toBe("Let me see.");
    expect(spelled(entriesOf(events.slice(at)))).toBe("Done");
  });

  test("the space that SentencePiece puts in front of text is in no entry", () => {
    const spm = goldenModel("llama-spm");
    const ids = tokensOf("the end", spm);
    const entries = entriesOf(decode(ids, {}, { textModel: spm }));
    expect(spelled(entries)).toBe("the end");
    expect(entries[0]?.token).toMatch(/^ /);
  });
});

test("joined bytes are the text's own, whatever the text and however it comes", () => {
  const random = seededRandom(5);
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const parts = [
    '<tool_call>{"name": "now", "arguments": {"a": "ü👍"}}</tool_call>',
    '<tool_call>{"name": "rm", "arguments": {}}</tool_call>',
    "<tool_call>{",
    "<think>Hm 漢字.</think>",
    "<think>",
    "</think>",
    "plain text ",
    "👨‍👩‍👧 \n\n",
    "STO",
    "STOP",
    "  <tool_",
    "<|im_end|>",
  ];
  const formats: readonly OutputFormat[] = [
    {},
    CALLS,
    { ...CALLS, thinking: { format: "think", start: "closed" } },
    { calls: { format: "harmony", tools: [{ name: "now" }] } },
    { calls: { format: "pythonic", tools: [{ name: "now" }] } },
  ];
  for (let round = 0; round < 600; round++) {
    const output = Array.from({ length: 1 + Math.floor(random() * 5) }, () => pick(parts)).join("");
    const format = pick(formats);
    const options = { format, stop: pick([[], ["STOP"], ["OPS", "}\n"], ["👧"]]) };
    let ids = tokensOf(output);
    // Sometimes a token too few or too many: characters break.
    if (random() < 0.3) ids = Int32Array.from([...ids].filter(() => random() < 0.9));
    const events = decode(ids, options, { sizes: () => 1 + Math.floor(random() * 4) });
    expect(spelled(entriesOf(events)), output).toBe(textOf(events));
    const places = placesOf(entriesOf(events));
    expect(places, output).toEqual(places.toSorted((a, b) => a - b));
  }
});
