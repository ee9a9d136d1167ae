/**
 * The call formats of model families. Each was read off the chat templates that teach it; which one a
 * model uses is found by `detect-format.ts`.
 */

import type {
  BlockSyntax,
  CallFormat,
  JsonForm,
  LiteralForm,
  NamedForm,
  TaggedForm,
} from "./call-syntax.ts";
import type { ToolFormat } from "./output-format.ts";

const JSON_FORM: JsonForm = { kind: "json" };

const PYTHON: LiteralForm = {
  kind: "literal",
  prefix: "",
  open: "(",
  literals: { assign: "=", close: ")", hasSpread: true },
};

const GEMMA: LiteralForm = {
  kind: "literal",
  prefix: "call:",
  open: "{",
  literals: { assign: ":", close: "}", rawQuote: '<|"|>', hasSpread: false },
};

/** Qwen3-Coder's; Seed has it without line breaks around the values. */
const FUNCTION_TAGS: TaggedForm = {
  kind: "tagged",
  open: "<function=",
  nameEnds: ">",
  name: /^(?<name>.*)$/s,
  parameterOpen: "<parameter=",
  valueOpen: ">",
  key: /^(?<key>.*)$/s,
  parameterClose: "</parameter>",
  isPadded: true,
  close: "</function>",
};

const INVOKE_TAGS: TaggedForm = {
  kind: "tagged",
  open: '<invoke name="',
  nameEnds: ">",
  name: /^(?<name>[^"]*)"$/,
  parameterOpen: '<parameter name="',
  valueOpen: ">",
  key: /^(?<key>[^"]*)"$/,
  parameterClose: "</parameter>",
  isPadded: false,
  close: "</invoke>",
};

const DSML_TAGS: TaggedForm = {
  ...INVOKE_TAGS,
  open: '<｜DSML｜invoke name="',
  parameterOpen: '<｜DSML｜parameter name="',
  key: /^(?<key>[^"]*)"(?: string="(?<isText>true|false)")?$/,
  parameterClose: "</｜DSML｜parameter>",
  close: "</｜DSML｜invoke>",
};

const GLM_TAGS: TaggedForm = {
  kind: "tagged",
  open: "",
  nameEnds: "\n<",
  name: /^\s*(?<name>.*?)\s*$/s,
  parameterOpen: "<arg_key>",
  valueOpen: "<arg_value>",
  key: /^(?<key>.*)<\/arg_key>\s*$/s,
  parameterClose: "</arg_value>",
  isPadded: false,
  close: "</tool_call>",
};

const MISTRAL_ARGS: NamedForm = {
  kind: "named",
  prefix: "",
  header: /^(?<name>[^[\]{}\s]+)(?:\[CALL_ID\][^[\]]*)?\[ARGS\]\s*$/,
  write: (name) => `${name}[ARGS]`,
  end: "",
};

/** V3.1's; R1 writes a type in front of the name and fences the JSON. */
const DEEPSEEK: NamedForm = {
  kind: "named",
  prefix: "<｜tool▁call▁begin｜>",
  header: /^(?:function<｜tool▁sep｜>)?(?<name>[^<\n]+)(?:<｜tool▁sep｜>|\n```json)\s*$/,
  write: (name) => `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>`,
  end: "<｜tool▁call▁end｜>",
};

const KIMI: NamedForm = {
  kind: "named",
  prefix: "<|tool_call_begin|>",
  header: /^\s*(?:functions\.)?(?<name>[^:<]+?)(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*$/,
  write: (name, index) =>
    `<|tool_call_begin|>functions.${name}:${index}<|tool_call_argument_begin|>`,
  end: "<|tool_call_end|>",
};

const APERTUS: NamedForm = {
  kind: "named",
  prefix: '{"',
  header: /^(?<name>[^"]+)"\s*:\s*$/,
  write: (name) => `{"${name}": `,
  end: "}",
};

function block(marker: string, form: BlockSyntax["form"], rest: Partial<BlockSyntax>): CallFormat {
  return { blocks: [blockSyntax({ marker }, form, rest)], markers: markersOf(marker, rest.close) };
}

function blockSyntax(
  opening: BlockSyntax["opening"],
  form: BlockSyntax["form"],
  rest: Partial<BlockSyntax> = {},
): BlockSyntax {
  const plain = { isList: false, separators: [], ignored: [], close: undefined };
  return { ...plain, opening, form, ...rest };
}

function markersOf(...texts: readonly (string | undefined)[]): readonly string[] {
  return texts.filter((text) => text !== undefined);
}

const LIST = { isList: true, separators: [","] };

const MISTRAL_MARKERS = ["[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"];

export const CALL_FORMATS: Readonly<Record<Exclude<ToolFormat, "harmony">, CallFormat>> = {
  hermes: block("<tool_call>", JSON_FORM, { close: "</tool_call>" }),
  "qwen-coder": block("<tool_call>", FUNCTION_TAGS, { close: "</tool_call>" }),
  seed: block(
    "<seed:tool_call>",
    { ...FUNCTION_TAGS, isPadded: false },
    {
      close: "</seed:tool_call>",
    },
  ),
  glm: {
    ...block("<tool_call>", GLM_TAGS, { close: "</tool_call>" }),
    markers: [
      "<tool_call>",
      "</tool_call>",
      "<arg_key>",
      "</arg_key>",
      "<arg_value>",
      "</arg_value>",
    ],
  },
  minimax: block("<minimax:tool_call>", INVOKE_TAGS, { close: "</minimax:tool_call>" }),
  dsml: {
    ...block("<｜DSML｜function_calls>", DSML_TAGS, { close: "</｜DSML｜function_calls>" }),
    markers: ["｜DSML｜"],
  },
  llama: {
    blocks: [
      blockSyntax({ marker: "<|python_tag|>" }, JSON_FORM, { separators: [";"] }),
      blockSyntax({ leading: "{" }, JSON_FORM, { separators: [";"] }),
      blockSyntax({ leading: "[" }, PYTHON, LIST),
    ],
    markers: ["<|python_tag|>"],
  },
  pythonic: { blocks: [blockSyntax({ leading: "[" }, PYTHON, LIST)], markers: [] },
  mistral: {
    blocks: [blockSyntax({ marker: "[TOOL_CALLS]" }, JSON_FORM, LIST)],
    markers: MISTRAL_MARKERS,
  },
  "mistral-args": {
    blocks: [blockSyntax({ marker: "[TOOL_CALLS]" }, MISTRAL_ARGS)],
    markers: MISTRAL_MARKERS,
  },
  granite: block("<|tool_call|>", JSON_FORM, LIST),
  deepseek: {
    ...block("<｜tool▁calls▁begin｜>", DEEPSEEK, {
      ignored: ["```", "<｜tool▁call▁end｜>"],
      close: "<｜tool▁calls▁end｜>",
    }),
    markers: [
      "<｜tool▁calls▁begin｜>",
      "<｜tool▁calls▁end｜>",
      "<｜tool▁call▁begin｜>",
      "<｜tool▁call▁end｜>",
      "<｜tool▁sep｜>",
    ],
  },
  kimi: {
    ...block("<|tool_calls_section_begin|>", KIMI, {
      ignored: ["<|tool_call_end|>"],
      close: "<|tool_calls_section_end|>",
    }),
    markers: [
      "<|tool_calls_section_begin|>",
      "<|tool_calls_section_end|>",
      "<|tool_call_begin|>",
      "<|tool_call_argument_begin|>",
      "<|tool_call_end|>",
    ],
  },
  "command-r": block("Action:\n```json", JSON_FORM, { ...LIST, close: "```" }),
  "command-r7b": block("<|START_ACTION|>", JSON_FORM, { ...LIST, close: "<|END_ACTION|>" }),
  apertus: block("<|tools_prefix|>", APERTUS, {
    ...LIST,
    ignored: ["}"],
    close: "<|tools_suffix|>",
  }),
  gemma: {
    ...block("<|tool_call>", GEMMA, { close: "<tool_call|>" }),
    markers: ["<|tool_call>", "<tool_call|>", '<|"|>'],
  },
};
