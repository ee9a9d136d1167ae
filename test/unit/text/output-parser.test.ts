import { describe, expect, test } from "vitest";
import type {
  OfferedTool,
  OutputFormat,
  ThinkingFormat,
  ThinkingStart,
  ToolFormat,
} from "../../../src/text/output/output-format.ts";
import { createOutputParser } from "../../../src/text/output/output-parser.ts";
import type { ParsedEvent } from "../../../src/text/output/parsed-event.ts";
import type { OutputEvent } from "../../../src/text/text-types.ts";
import { seededRandom } from "../../seeded-random.ts";
import { call, parseOutput, parsePieces, text, thought } from "./parse-output.ts";

const TOOLS: readonly OfferedTool[] = [
  { name: "weather", textParameters: ["city"] },
  { name: "now" },
];

interface Sample {
  readonly format: OutputFormat;
  readonly output: string;
  readonly events: readonly OutputEvent[];
}

function sample(
  format: ToolFormat,
  output: string,
  events: readonly OutputEvent[],
  thinking?: OutputFormat["thinking"],
): Sample {
  const calls = { format, tools: TOOLS };
  return { format: thinking ? { calls, thinking } : { calls }, output, events };
}

function think(
  format: ThinkingFormat,
  output: string,
  events: readonly OutputEvent[],
  start: ThinkingStart = "closed",
): Sample {
  return { format: { thinking: { format, start } }, output, events };
}

const THINK = { format: "think", start: "closed" } as const;
const OSLO = '{"city": "Oslo", "days": 2}';

/** What each family writes for the same: one call of `weather` with city and days. */
const ONE_CALL: Readonly<Record<ToolFormat, string>> = {
  hermes: `<tool_call>\n{"name": "weather", "arguments": ${OSLO}}\n</tool_call>`,
  "qwen-coder":
    "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
  seed: "<seed:tool_call>\n<function=weather>\n<parameter=city>Oslo</parameter>\n<parameter=days>2</parameter>\n</function>\n</seed:tool_call>",
  glm: "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
  minimax:
    '<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">Oslo</parameter>\n<parameter name="days">2</parameter>\n</invoke>\n</minimax:tool_call>',
  dsml: '<｜DSML｜function_calls>\n<｜DSML｜invoke name="weather">\n<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  llama: `{"name": "weather", "parameters": ${OSLO}}`,
  pythonic: '[weather(city="Oslo", days=2)]',
  mistral: `[TOOL_CALLS][{"name": "weather", "arguments": ${OSLO}, "id": "a1b2c3d4e"}]`,
  "mistral-args": `[TOOL_CALLS]weather[ARGS]${OSLO}`,
  granite: `<|tool_call|>[{"name": "weather", "arguments": ${OSLO}}]`,
  deepseek: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>${OSLO}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  kimi: `<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>${OSLO}<|tool_call_end|><|tool_calls_section_end|>`,
  "command-r": `Action:\n\`\`\`json\n[\n    {\n        "tool_name": "weather",\n        "parameters": ${OSLO}\n    }\n]\`\`\``,
  "command-r7b": `<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "weather", "parameters": ${OSLO}}\n]<|END_ACTION|>`,
  apertus: `<|tools_prefix|>[{"weather": ${OSLO}}]<|tools_suffix|>`,
  gemma: '<|tool_call>call:weather{city:<|"|>Oslo<|"|>,days:2}<tool_call|>',
  harmony: `<|channel|>commentary to=functions.weather <|constrain|>json<|message|>${OSLO}<|call|>`,
};

const FAMILIES = Object.keys(ONE_CALL) as readonly ToolFormat[];

const SAMPLES: readonly (readonly [title: string, sample: Sample])[] = [
  ...FAMILIES.map((format): [string, Sample] => [
    `${format}: a call`,
    sample(format, ONE_CALL[format], call("weather", OSLO)),
  ]),
  [
    "qwen-coder: values of lines, markup and JSON",
    sample(
      "qwen-coder",
      'Sure.\n<tool_call>\n<function=weather>\n<parameter=city>\n\nNew "York"\n</para\\n\n\n</parameter>\n<parameter=x>\n{"a": [1]}\n</parameter>\n<parameter=y>\nplain: \\u00e6\n</parameter>\n<parameter=z>\nTrue\n</parameter>\n</function>\n</tool_call>',
      [
        text("Sure."),
        ...call(
          "weather",
          '{"city": "\\nNew \\"York\\"\\n</para\\\\n\\n", "x": {"a": [1]}, "y": "plain: \\\\u00e6", "z": true}',
        ),
      ],
    ),
  ],
  [
    "hermes: white space behind the last call",
    sample("hermes", `${ONE_CALL.hermes}\n \n`, call("weather", OSLO)),
  ],
  [
    "qwen-coder: JSON inside the block",
    sample("qwen-coder", ONE_CALL.hermes, call("weather", OSLO)),
  ],
  [
    "qwen-coder: a call without parameters",
    sample("qwen-coder", "<tool_call><function=now></function></tool_call>", call("now", "{}")),
  ],
  [
    "seed: values that are no JSON are text",
    sample(
      "seed",
      "<seed:tool_call><function=now><parameter=a>constructor</parameter><parameter=b>1_000</parameter><parameter=c> x\n</parameter></function></seed:tool_call>",
      call("now", '{"a": "constructor", "b": "1_000", "c": " x\\n"}'),
    ),
  ],
  [
    "pythonic: words that are no values break the call",
    sample("pythonic", "[now(a=constructor)]", [
      { type: "call_start", name: "now" },
      { type: "call_arguments", delta: '{"a": )]' },
    ]),
  ],
  [
    "glm: no arguments",
    sample("glm", "<tool_call>now</tool_call> ok", [...call("now", "{}"), text("ok")]),
  ],
  [
    "minimax: two calls in a block",
    sample(
      "minimax",
      '<minimax:tool_call>\n<invoke name="now">\n</invoke>\n<invoke name="now">\n<parameter name="a">x < y</parameter>\n</invoke>\n</minimax:tool_call>\nAnd on.',
      [...call("now", "{}"), ...call("now", '{"a": "x < y"}'), text("And on.")],
    ),
  ],
  [
    "deepseek: R1's form, two calls",
    sample(
      "deepseek",
      'Text<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{"a": 1}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      [text("Text"), ...call("now", '{"a": 1}'), ...call("now", "{}")],
    ),
  ],
  [
    "llama: behind the tag, two calls",
    sample(
      "llama",
      '<|python_tag|>{"name": "now", "parameters": {}}; {"type": "function", "name": "now", "parameters": {"a": 1}}',
      [...call("now", "{}"), ...call("now", '{"a": 1}')],
    ),
  ],
  [
    "llama: behind the tag, as a method of a tool",
    sample("llama", '<|python_tag|>weather.call(city="Oslo", days=2); now.call()', [
      ...call("weather", '{"city": "Oslo", "days": 2}'),
      ...call("now", "{}"),
    ]),
  ],
  [
    "llama: behind the tag, another method",
    sample("llama", '<|python_tag|>now.calls(a="b")', [text('<|python_tag|>now.calls(a="b")')]),
  ],
  ["llama: pythonic", sample("llama", ONE_CALL.pythonic, call("weather", OSLO))],
  [
    "llama: an answer in JSON",
    sample("llama", '{"a": 1, "name": "now"}', [text('{"a": 1, "name": "now"}')]),
  ],
  [
    "llama: JSON that is not at the start",
    sample("llama", 'See {"name": "now", "parameters": {}}', [
      text('See {"name": "now", "parameters": {}}'),
    ]),
  ],
  [
    "pythonic: literals of Python",
    sample(
      "pythonic",
      '\n[weather(city=\'it\\\'s "so" \\x41\\n\\é\', days=[1, 2., {\'k\': None}], ok=True), now(), now(**{"a": {"b": []}})]\nDone',
      [
        ...call(
          "weather",
          '{"city": "it\'s \\"so\\" \\u0041\\n\\\\é", "days": [1, 2, {"k": null}], "ok": true}',
        ),
        ...call("now", "{}"),
        ...call("now", '{"a": {"b": []}}'),
        text("Done"),
      ],
    ),
  ],
  ["pythonic: a list that is none", sample("pythonic", "[1] nowhere", [text("[1] nowhere")])],
  [
    "mistral: text, then two calls",
    sample(
      "mistral",
      'Look: [TOOL_CALLS] [{"name": "now", "arguments": {}}, {"name": "now", "arguments": {"a": "]"}}]',
      [text("Look:"), ...call("now", "{}"), ...call("now", '{"a": "]"}')],
    ),
  ],
  [
    "mistral-args: ids and several calls",
    sample(
      "mistral-args",
      '[TOOL_CALLS]now[CALL_ID]abcdefghi[ARGS]{}[TOOL_CALLS]weather[ARGS]{"city": "[ARGS]"}',
      [...call("now", "{}"), ...call("weather", '{"city": "[ARGS]"}')],
    ),
  ],
  [
    "kimi: two calls",
    sample(
      "kimi",
      "On it.<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
      [text("On it."), ...call("now", "{}"), ...call("now", "{}")],
    ),
  ],
  [
    "apertus: two calls",
    sample("apertus", '<|tools_prefix|>[{"now": {}}, {"now": {"a": {}}}]<|tools_suffix|>', [
      ...call("now", "{}"),
      ...call("now", '{"a": {}}'),
    ]),
  ],
  [
    "gemma: nested values and JSON strings",
    sample(
      "gemma",
      '<|tool_call>call:weather{city:<|"|>a"b\\<|"<|"|>,"o":{k:[true,null,<|"|><|"|>]},s:"x\\u00e9"}<tool_call|>',
      call("weather", '{"city": "a\\"b\\\\<|\\"", "o": {"k": [true, null, ""]}, "s": "x\\u00e9"}'),
    ),
  ],
  [
    "harmony: analysis, preamble, call",
    sample(
      "harmony",
      `<|channel|>analysis<|message|>Need it.<|end|><|start|>assistant<|channel|>commentary<|message|>Let me see.<|end|><|start|>assistant to=functions.weather<|channel|>commentary json<|message|>${OSLO}<|call|>`,
      [thought("Need it."), text("Let me see."), ...call("weather", OSLO)],
    ),
  ],
  [
    "harmony: final answer, recipient first",
    sample(
      "harmony",
      " to=functions.now<|channel|>commentary json<|message|>{}<|end|> \n<|start|>assistant<|channel|>final<|message|>It is <|x noon",
      [...call("now", "{}"), text("It is <|x noon")],
    ),
  ],
  [
    "harmony: an unknown function is shown",
    sample("harmony", "<|channel|>commentary to=functions.rm json<|message|>{}<|call|>", [
      text("{}"),
    ]),
  ],
  ["harmony: no header at all", sample("harmony", "to be or", [text("to be or")])],
  [
    "harmony: a broken call has no end",
    sample("harmony", '<|channel|>commentary to=functions.now<|message|>{"a": oops}<|call|>', [
      { type: "call_start", name: "now" },
      { type: "call_arguments", delta: '{"a": oops}' },
    ]),
  ],
  [
    "hermes: colons, escapes and parts of markers in arguments",
    sample(
      "hermes",
      '<tool_call>\n{"name":"now","arguments":{"t":"k: v \\\\u00e6 \\u00e6 </tool_cal {\\"x\\":1}"}}\n</tool_call>',
      call("now", '{"t":"k: v \\\\u00e6 \\u00e6 </tool_cal {\\"x\\":1}"}'),
    ),
  ],
  [
    "thinking, then calls and thinking in turns",
    sample(
      "hermes",
      `<think>\nFirst.\n</think>\n\n${ONE_CALL.hermes}\n<think>Then.</think>\nDone <think>.</think>`,
      [
        thought("First."),
        ...call("weather", OSLO),
        thought("Then."),
        text("Done <think>.</think>"),
      ],
      THINK,
    ),
  ],
  [
    "a call in the middle of thinking is thinking",
    sample("hermes", `<think>${ONE_CALL.hermes}`, [thought(ONE_CALL.hermes)], THINK),
  ],
  [
    "think: tags later on are text",
    think("think", "So <think>a</think>", [text("So <think>a</think>")]),
  ],
  [
    "think: opened by the prompt",
    think("think", "Hm.\n</think>\n\nYes</think>", [thought("Hm."), text("Yes</think>")], "open"),
  ],
  [
    "think: opened twice",
    think("think", "\n<think>\nHm.</think>Yes", [thought("Hm."), text("Yes")], "open"),
  ],
  ["think: empty", think("think", "<think>\n\n</think>\n\nYes", [text("Yes")])],
  ["think: cut", think("think", "<think>so </thi", [thought("so </thi")])],
  [
    "think: JSON behind bare thinking",
    think(
      "think",
      'Add them.\n</think>\n\n{"n": 5}',
      [thought("Add them."), text('{"n": 5}')],
      "bare",
    ),
  ],
  ["think: JSON alone", think("think", ' {"n": 5}', [text(' {"n": 5}')], "bare")],
  ["think: a word of JSON", think("think", "true", [text("true")], "bare")],
  [
    "think: a call in place of a JSON answer",
    sample("hermes", ONE_CALL.hermes, call("weather", OSLO), { format: "think", start: "bare" }),
  ],
  [
    "think: almost a word of JSON",
    think("think", "truely</think>null", [thought("truely"), text("null")], "bare"),
  ],
  [
    "granite: response markers",
    think("granite", "<think>a</think>\n<response>\nb </response>", [thought("a"), text("b")]),
  ],
  ["mistral", think("mistral", "[THINK]a[/THINK]b", [thought("a"), text("b")])],
  ["seed", think("seed", "<seed:think>\na</seed:think>b", [thought("a"), text("b")])],
  ["gemma", think("gemma", "<|channel>thought\na\n<channel|>b", [thought("a"), text("b")])],
  ["harmony", think("harmony", "<|channel|>final<|message|>b<|return|>", [text("b")])],
];

test.each(SAMPLES)("%s", (_, { format, output, events }) => {
  expect(parseOutput(output, format)).toEqual(events);
});

describe("malformed calls", () => {
  const marked = FAMILIES.filter((format) => format !== "harmony");

  test.each(marked)("%s: a call of a function that is not offered stays text", (format) => {
    const output = ONE_CALL[format].replace("weather", "wether");
    expect(parseOutput(output, { calls: { format, tools: TOOLS } })).toEqual([text(output)]);
  });

  test.each(FAMILIES)("%s: no beginning of a call is lost or crashes", (format) => {
    const output = ONE_CALL[format];
    for (let length = 0; length <= output.length; length++) {
      const cut = output.slice(0, length);
      const events = parseOutput(cut, { calls: { format, tools: TOOLS } });
      const isAnnounced = events.some(({ type }) => type === "call_start");
      if (!isAnnounced && format !== "harmony") {
        expect(events).toEqual(cut === "" ? [] : [text(cut)]);
      }
      const args = events.find((event) => event.type === "call_arguments");
      if (args && "delta" in args) expect(OSLO.startsWith(args.delta)).toBe(true);
    }
  });

  test.each(marked)("%s: a call behind a rejected one is found", (format) => {
    const output = `x${ONE_CALL[format].replace("weather", "wether")} ${ONE_CALL[format]}`;
    const events = parseOutput(output, { calls: { format, tools: TOOLS } });
    const isLeading = format === "llama" || format === "pythonic";
    expect(events.filter(({ type }) => type === "call_start")).toHaveLength(isLeading ? 0 : 1);
  });
});

describe("events do not depend on how the text is cut", () => {
  test.each(SAMPLES)("%s", (_, { format, output, events }) => {
    expect(parsePieces([...output], format)).toEqual(events);
    for (let at = 1; at < output.length; at++) {
      expect(parsePieces([output.slice(0, at), output.slice(at)], format), `cut at ${at}`).toEqual(
        events,
      );
    }
  });

  test.each(FAMILIES)("%s: random rows of parts of its outputs", (format) => {
    const random = seededRandom(17);
    const below = (count: number): number => Math.floor(random() * count);
    const own = SAMPLES.map(([, s]) => s).filter((s) => s.format.calls?.format === format);
    const thinking = format === "harmony" ? undefined : THINK;
    const outputFormat: OutputFormat = {
      calls: { format, tools: TOOLS },
      ...(thinking && { thinking }),
    };
    for (let round = 0; round < 100; round++) {
      let output = random() < 0.2 ? "<think>" : "";
      for (let count = 1 + below(4); count > 0; count--) {
        const { output: source } = own[below(own.length)] as Sample;
        const from = random() < 0.5 ? 0 : below(source.length);
        output += source.slice(from, random() < 0.5 ? undefined : below(source.length + 1));
        output += ["", "", " ", "\n\n", "</think>", "<think>", "{", "]", "👍 text "][below(9)];
      }
      const whole = parseOutput(output, outputFormat);
      expect(parsePieces([...output], outputFormat), output).toEqual(whole);
      for (let tries = 0; tries < 4; tries++) {
        const pieces: string[] = [];
        for (let at = 0; at < output.length; ) {
          const end = at + 1 + below(7);
          pieces.push(output.slice(at, end));
          at = end;
        }
        expect(parsePieces(pieces, outputFormat), output).toEqual(whole);
      }
    }
  });
});

test("half a call that its marker opened is no text when the token cap cut it", () => {
  const events: ParsedEvent[] = [];
  const format: OutputFormat = { calls: { format: "hermes", tools: TOOLS } };
  const parser = createOutputParser(format, (event) => events.push(event));
  parser?.push('I look. <tool_call>\n{"name": "get_w');
  parser?.finish(true);
  expect(events).toEqual([{ ...text("I look."), end: 7 }, { type: "call_cut" }]);
});
