import { describe, expect, test } from "vitest";
import type { OutputFormat, ToolFormat } from "../../../src/text/output/output-format.ts";
import type { OutputDecoderOptions, OutputEvent, TextModel } from "../../../src/text/text-types.ts";
import { loadGgufOf } from "./inspections.ts";
import { seededRandom } from "../../seeded-random.ts";
import { goldenModel, joinEvents, textOf } from "./text-fixtures.ts";

const model = goldenModel("qwen2");
const TOOLS: OutputDecoderOptions = {
  stop: [],
  format: { calls: { format: "hermes", tools: [{ name: "weather" }, { name: "now" }] } },
};

function tokensOf(text: string): Int32Array {
  return model.tokenizer.encodePlain(text, { parseSpecial: true, addBos: false });
}

function decode(text: string, options: OutputDecoderOptions): readonly OutputEvent[] {
  const decoder = model.createOutputDecoder(options);
  return joinEvents([...decoder.push(tokensOf(text)), ...decoder.finish()]);
}

function call(name: string, args: string): string {
  return `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;
}

function callEvents(name: string, args: string): readonly OutputEvent[] {
  return [
    { type: "call_start", name },
    { type: "call_arguments", delta: args },
    { type: "call_end" },
  ];
}

const text = (delta: string): OutputEvent => ({ type: "text", delta });

describe("text", () => {
  test("no delta ends inside a character", () => {
    const decoder = model.createOutputDecoder({ stop: [] });
    const deltas = [...tokensOf("naïve 👨‍👩‍👧 你好")].map((id) =>
      textOf(decoder.push(Int32Array.of(id))),
    );
    expect(deltas.every((delta) => delta.isWellFormed() && !delta.includes("\ufffd"))).toBe(true);
    expect(deltas.join("") + textOf(decoder.finish())).toBe("naïve 👨‍👩‍👧 你好");
  });

  test("a character that the end cuts is left out", () => {
    const decoder = model.createOutputDecoder({ stop: [] });
    const ids = tokensOf("a👍");
    expect(textOf(decoder.push(ids.subarray(0, ids.length - 1)))).toBe("a");
    expect(textOf(decoder.finish())).toBe("");
  });

  test("a character that other text cuts is left out", () => {
    const half = tokensOf("👍").subarray(0, -1);
    expect(half.length).toBeGreaterThan(0);
    const ids = Int32Array.of(...tokensOf("a"), ...half, ...tokensOf("b👍"));
    expect(textOf(model.createOutputDecoder({ stop: [] }).push(ids))).toBe("ab👍");
  });

  test("any sequence of tokens gives the whole characters of their joined bytes", () => {
    const random = seededRandom(11);
    const { tokenizer } = model;
    for (let round = 0; round < 200; round++) {
      const ids = Int32Array.from({ length: 12 }, () => Math.floor(random() * tokenizer.vocabSize));
      const shown = [...ids].filter((id) => !tokenizer.eogIds.has(id));
      const bytes = shown.flatMap((id) => [...tokenizer.tokenBytes(id)]);
      const decoder = model.createOutputDecoder({ stop: [] });
      const events = [...decoder.push(ids), ...decoder.finish()];
      const decode = new TextDecoder("utf-8", { ignoreBOM: true });
      const joined = decode.decode(Uint8Array.from(bytes));
      expect(textOf(events)).toBe(joined.replaceAll("\ufffd", ""));
    }
  });

  test("a byte order mark is text", () => {
    expect(decode("\ufeffa", { stop: [] })).toEqual([text("\ufeffa")]);
  });

  test("tokens that end a generation are never text", () => {
    expect(decode("yes<|im_end|><|endoftext|>", { stop: [] })).toEqual([text("yes")]);
  });

  test("reserved tokens are counted and not shown", () => {
    const metadata = {
      "tokenizer.ggml.model": "gpt2",
      "tokenizer.ggml.pre": "gpt-2",
      "tokenizer.ggml.tokens": ["a", "<unused7>", "[PAD2]", "<|x|>"],
      "tokenizer.ggml.token_type": Int32Array.of(1, 4, 5, 3),
      "tokenizer.ggml.merges": [],
    };
    const gguf = loadGgufOf(metadata);
    const decoder = gguf.createOutputDecoder({ stop: [] });
    expect(textOf(decoder.push(Int32Array.of(0, 1, 0, 2, 3, 0)))).toBe("aaa");
    expect(decoder.numTokens).toBe(6);
  });

  test("a token without text does not end a character", () => {
    const decoder = model.createOutputDecoder({ stop: [] });
    const [control = 0] = tokensOf("<|im_start|>");
    const ids = [...tokensOf("é")].flatMap((id) => [id, control]);
    expect(textOf([...decoder.push(Int32Array.from(ids)), ...decoder.finish()])).toBe("é");
  });

  test("the space that SentencePiece puts in front of text is not part of the output", () => {
    const spm = goldenModel("llama-spm");
    const decoder = spm.createOutputDecoder({ stop: [] });
    const ids = spm.tokenizer.encodePlain("the end", { parseSpecial: false, addBos: false });
    expect(textOf([...decoder.push(ids), ...decoder.finish()])).toBe("the end");
  });

  test("where the output continues a text, that space is", () => {
    const spm = goldenModel("llama-spm");
    const decoder = spm.createOutputDecoder({ stop: [], continuesText: true });
    const ids = spm.tokenizer.encodePlain("the end", { parseSpecial: false, addBos: false });
    expect(textOf([...decoder.push(ids), ...decoder.finish()])).toBe(" the end");
  });
});

describe("stop strings", () => {
  test("text before the stop string is delivered, nothing of it and nothing after it", () => {
    const decoder = model.createOutputDecoder({ stop: ["END"] });
    const deltas = [...tokensOf("one EN two END three")].map((id) =>
      textOf(decoder.push(Int32Array.of(id))),
    );
    expect(deltas.join("") + textOf(decoder.finish())).toBe("one EN two ");
    expect(decoder.stopped).toBe(true);
  });

  test("a partial stop string is held back, and delivered when the output ends", () => {
    const decoder = model.createOutputDecoder({ stop: ["</done>"] });
    expect(textOf(decoder.push(tokensOf("x </do")))).toBe("x ");
    expect(textOf(decoder.finish())).toBe("</do");
    expect(decoder.stopped).toBe(false);
  });

  test("of two stop strings the one that is complete first wins", () => {
    expect(decode("xabcy", { stop: ["abcy", "bc"] })).toEqual([text("xa")]);
  });

  test("tokens count up to the one that completed the stop string", () => {
    const decoder = model.createOutputDecoder({ stop: ["!"] });
    const before = tokensOf("a b c").length;
    decoder.push(Int32Array.of(...tokensOf("a b c"), ...tokensOf("!"), ...tokensOf("d e")));
    expect(decoder.numTokens).toBe(before + 1);
    expect(decoder.push(tokensOf("f"))).toEqual([]);
    expect(decoder.numTokens).toBe(before + 1);
  });
});

describe("calls", () => {
  test("a call is announced by name and its arguments are the model's own text", () => {
    const args = '{"city":  "Oslo", "n": [1, -2.5e3, true, null, "}\\" \\u00e9"]}';
    expect(decode(call("weather", args), TOOLS)).toEqual(callEvents("weather", args));
  });

  test("arguments stream before the call is complete", () => {
    const decoder = model.createOutputDecoder(TOOLS);
    const events = decoder.push(tokensOf('<tool_call>\n{"name": "weather", "arguments": {"city'));
    expect(joinEvents(events)).toEqual([
      { type: "call_start", name: "weather" },
      { type: "call_arguments", delta: '{"city' },
    ]);
  });

  test("name and arguments come in any order, beside other keys", () => {
    const output =
      '<tool_call>{"id": {"a": [1]}, "arguments": {"n": 1}, "name": "now"}</tool_call>';
    expect(decode(output, TOOLS)).toEqual(callEvents("now", '{"n": 1}'));
  });

  test("several calls with text before, between and after", () => {
    const output = `Let me see.\n${call("now", "{}")}\nAnd:\n${call("now", '{"a":1}')}\n${call("now", "{}")}\nDone`;
    expect(decode(output, TOOLS)).toEqual([
      text("Let me see."),
      ...callEvents("now", "{}"),
      text("And:"),
      ...callEvents("now", '{"a":1}'),
      ...callEvents("now", "{}"),
      text("Done"),
    ]);
  });

  test.each([
    ["a name that is not offered", call("rm", "{}")],
    ["no JSON", "<tool_call>\nweather in Oslo\n</tool_call>"],
    ["arguments that are no object", call("weather", '"{\\"city\\": 1}"')],
    ["no name", '<tool_call>{"arguments": {}}</tool_call>'],
    ["no arguments", '<tool_call>{"name": "now"}</tool_call>'],
    ["a name that is no string", '<tool_call>{"name": 1, "arguments": {}}</tool_call>'],
    ["an opening marker alone", "a  <tool_call>"],
    ["a part of the marker", "if a <tool_c and b"],
    ["a closing marker alone", "a </tool_call> b"],
  ])("%s: the block is text, unchanged", (_, output) => {
    expect(decode(output, TOOLS)).toEqual([text(output)]);
  });

  test("a call behind a rejected block is found", () => {
    const rejected = `<tool_call> ${call("rm", "{}")}\n`;
    expect(decode(rejected + call("now", "{}"), TOOLS)).toEqual([
      text(rejected.trimEnd()),
      ...callEvents("now", "{}"),
    ]);
  });

  test("a call that the end cuts inside its arguments has no end", () => {
    expect(decode('<tool_call>{"name": "now", "arguments": {"a": "b', TOOLS)).toEqual([
      { type: "call_start", name: "now" },
      { type: "call_arguments", delta: '{"a": "b' },
    ]);
  });

  test("a call whose arguments break has no end and loses nothing", () => {
    const output = `<tool_call>{"name": "now", "arguments": {"a": oops}}</tool_call>after`;
    expect(decode(output, TOOLS)).toEqual([
      { type: "call_start", name: "now" },
      { type: "call_arguments", delta: '{"a": oops}}' },
      text("after"),
    ]);
  });

  test("a missing last brace does not lose a call whose arguments are whole", () => {
    const output = '<tool_call>{"name": "now", "arguments": {"a": 1}\n</tool_call>';
    expect(decode(output, TOOLS)).toEqual(callEvents("now", '{"a": 1}'));
  });

  test("without a tool format everything is text", () => {
    expect(decode(call("now", "{}"), { stop: [] })).toEqual([text(call("now", "{}"))]);
  });
});

test("events do not depend on how the tokens are grouped", () => {
  const random = seededRandom(7);
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const parts = [
    call("now", '{"a": "ü👍 <tool_call> \\n"}'),
    call("rm", "{}"),
    '<tool_call>{"name": "weather", "arguments": {"x": [1,2',
    "<tool_call>{",
    "</tool_call>",
    "plain text ",
    "👨‍👩‍👧 \n\n",
    "STO",
    "STOP",
    "  <tool_",
    "<|im_end|>",
  ];
  for (let round = 0; round < 300; round++) {
    const output = Array.from({ length: 1 + Math.floor(random() * 5) }, () => pick(parts)).join("");
    const options = { ...TOOLS, stop: pick([[], ["STOP"], ["OPS", "}\n"]]) };
    const whole = decode(output, options);
    const decoder = model.createOutputDecoder(options);
    const events: OutputEvent[] = [];
    const ids = tokensOf(output);
    for (let start = 0; start < ids.length; ) {
      const end = start + 1 + Math.floor(random() * 4);
      events.push(...decoder.push(ids.subarray(start, end)));
      start = end;
    }
    events.push(...decoder.finish());
    expect(joinEvents(events), output).toEqual(whole);
  }
});

describe("markers that the vocabulary declares as control tokens", () => {
  const tools = [{ name: "stat" }];
  const calls = (format: ToolFormat): OutputFormat => ({ calls: { format, tools } });
  const CALL = callEvents("stat", '{"a":[]}');

  /** A text model whose vocabulary has these control tokens, and all letters. */
  function modelWith(controls: readonly string[]): TextModel {
    const letters = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i));
    const pieces = [...controls, ...letters, "\u0120"];
    return loadGgufOf({
      "tokenizer.ggml.model": "gpt2",
      "tokenizer.ggml.pre": "gpt-2",
      "tokenizer.ggml.tokens": pieces,
      "tokenizer.ggml.token_type": Int32Array.from(pieces, (_, id) =>
        id < controls.length ? 3 : 1,
      ),
      "tokenizer.ggml.merges": [],
    });
  }

  test.each([
    [
      "hermes",
      ["<tool_call>", "</tool_call>"],
      '<tool_call>{"name":"stat","arguments":{"a":[]}}</tool_call>',
      calls("hermes"),
      CALL,
    ],
    [
      "mistral",
      ["[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"],
      '[TOOL_CALLS]stat[CALL_ID]123456789[ARGS]{"a":[]}',
      calls("mistral-args"),
      CALL,
    ],
    [
      "llama",
      ["<|python_tag|>", "<|eom_id|>"],
      '<|python_tag|>{"name":"stat","parameters":{"a":[]}}<|eom_id|>',
      calls("llama"),
      CALL,
    ],
    [
      "harmony",
      ["<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>", "<|return|>"],
      '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.stat json<|message|>{"a":[]}<|call|>',
      calls("harmony"),
      [{ type: "reasoning", delta: "Hm." }, ...CALL],
    ],
    [
      "gemma",
      ["<|tool_call>", "<tool_call|>", '<|"|>', "<|channel>", "<channel|>"],
      '<|channel>thought Hm.<channel|><|tool_call>call:stat{a:[<|"|>}<|"|>]}<tool_call|>',
      { ...calls("gemma"), thinking: { format: "gemma", start: "closed" } },
      [{ type: "reasoning", delta: "Hm." }, ...callEvents("stat", '{"a": ["}"]}')],
    ],
  ] as const)(
    "are seen by the family's parser, and never leak: %s",
    (_, controls, output, format, events) => {
      const vocabulary = modelWith(controls);
      const ids = vocabulary.tokenizer.encodePlain(output, { parseSpecial: true, addBos: false });
      // A stop string matches text, not the spelling of a control token.
      const decoder = vocabulary.createOutputDecoder({ format, stop: ["call>", "TOOL", "|>"] });
      const deltas = [...ids].flatMap((id) => decoder.push(Int32Array.of(id)));
      expect(joinEvents([...deltas, ...decoder.finish()])).toEqual(events);
      const plain = textOf(vocabulary.createOutputDecoder({ stop: [] }).push(ids));
      for (const control of controls) expect(plain).not.toContain(control);
    },
  );
});

test("tokens of thinking are counted, with their markers", () => {
  const decoder = model.createOutputDecoder({
    stop: [],
    format: { thinking: { format: "think", start: "closed" } },
  });
  const thinking = tokensOf("<think>\nSo it is.</think>").length;
  const events = [
    ...decoder.push(tokensOf("<think>\nSo it is.</think>\n\nYes")),
    ...decoder.finish(),
  ];
  expect(joinEvents(events)).toEqual([{ type: "reasoning", delta: "So it is." }, text("Yes")]);
  expect(decoder.numReasoningTokens).toBeGreaterThan(0);
  expect(decoder.numReasoningTokens).toBeLessThanOrEqual(thinking);
});
