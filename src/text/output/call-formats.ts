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

const JSON_FORM: JsonForm = { kind: "json", nameKey: "name", argumentsKey: "arguments" };

const LLAMA_JSON: JsonForm = { ...JSON_FORM, argumentsKey: "parameters" };

const COMMAND_R_JSON: JsonForm = { ...LLAMA_JSON, nameKey: "tool_name" };

const PYTHON: LiteralForm = {
  kind: "literal",
  prefix: "",
  open: "(",
  literals: { assign: "=", close: ")", hasSpread: true },
};

/** Llama's, of the tools that it was trained with. */
const PYTHON_METHOD: LiteralForm = { ...PYTHON, open: ".call(" };

const GEMMA: LiteralForm = {
  kind: "literal",
  prefix: "call:",
  open: "{",
  literals: { assign: ":", close: "}", rawQuote: '<|"|>', hasSpread: false },
};

/** Qwen3-Coder's. */
const FUNCTION_TAGS: TaggedForm = {
  kind: "tagged",
  open: "<function=",
  nameEnds: ">",
  name: /^(?<name>.*)$/s,
  nameClose: ">\n",
  parameterOpen: "<parameter=",
  valueOpen: ">",
  key: /^(?<key>.*)$/s,
  writeKey: (key) => key,
  parameterClose: "</parameter>",
  isPadded: true,
  close: "</function>",
};

const SEED_TAGS: TaggedForm = { ...FUNCTION_TAGS, isPadded: false };

const INVOKE_TAGS: TaggedForm = {
  kind: "tagged",
  open: '<invoke name="',
  nameEnds: ">",
  name: /^(?<name>[^"]*)"$/,
  nameClose: '">\n',
  parameterOpen: '<parameter name="',
  valueOpen: ">",
  key: /^(?<key>[^"]*)"$/,
  writeKey: (key) => `${key}"`,
  parameterClose: "</parameter>",
  isPadded: false,
  close: "</invoke>",
};

const DSML_TAGS: TaggedForm = {
  ...INVOKE_TAGS,
  open: '<｜DSML｜invoke name="',
  parameterOpen: '<｜DSML｜parameter name="',
  key: /^(?<key>[^"]*)"(?: string="(?<isText>true|false)")?$/,
  writeKey: (key, isText) => `${key}" string="${isText}"`,
  parameterClose: "</｜DSML｜parameter>",
  close: "</｜DSML｜invoke>",
};

const GLM_TAGS: TaggedForm = {
  kind: "tagged",
  open: "",
  nameEnds: "\n<",
  name: /^\s*(?<name>.*?)\s*$/s,
  nameClose: "\n",
  parameterOpen: "<arg_key>",
  valueOpen: "<arg_value>",
  key: /^(?<key>.*)<\/arg_key>\s*$/s,
  writeKey: (key) => `${key}</arg_key>\n`,
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
  write: (name) => `<|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>`,
  end: "<|tool_call_end|>",
};

const APERTUS: NamedForm = {
  kind: "named",
  prefix: '{"',
  header: /^(?<name>[^"]+)"\s*:\s*$/,
  write: (name) => `{"${name}": `,
  end: "}",
};

/** @param inner markers within the block that may be control tokens */
function block(
  marker: string,
  form: BlockSyntax["form"],
  rest: Partial<BlockSyntax>,
  inner: readonly string[] = [],
): CallFormat {
  const close = rest.close === undefined ? [] : [rest.close];
  const blocks = [blockSyntax({ marker }, form, rest)];
  return { blocks, markers: [marker, ...close, ...inner] };
}

function blockSyntax(
  opening: BlockSyntax["opening"],
  form: BlockSyntax["form"],
  rest: Partial<BlockSyntax> = {},
): BlockSyntax {
  const plain = {
    isList: false,
    separators: [],
    ignored: [],
    close: undefined,
    alternative: undefined,
    holdsSeveral: false,
    pad: "",
    between: "",
  };
  return { ...plain, opening, form, ...rest };
}

const LIST = { isList: true, holdsSeveral: true, between: ", " };

/** Tags on lines of their own. */
const LINES = { pad: "\n", between: "\n" };

const SEMICOLONS = { separators: [";"], holdsSeveral: true, between: "; " };

export const CALL_FORMATS: Readonly<Record<Exclude<ToolFormat, "harmony">, CallFormat>> = {
  hermes: block("<tool_call>", JSON_FORM, { ...LINES, close: "</tool_call>" }),
  "qwen-coder": block("<tool_call>", FUNCTION_TAGS, { ...LINES, close: "</tool_call>" }),
  seed: block("<seed:tool_call>", SEED_TAGS, { ...LINES, close: "</seed:tool_call>" }),
  glm: block("<tool_call>", GLM_TAGS, { between: "\n", close: "</tool_call>" }, [
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
  ]),
  minimax: block("<minimax:tool_call>", INVOKE_TAGS, {
    ...LINES,
    holdsSeveral: true,
    close: "</minimax:tool_call>",
  }),
  dsml: block(
    "<｜DSML｜function_calls>",
    DSML_TAGS,
    { ...LINES, holdsSeveral: true, close: "</｜DSML｜function_calls>" },
    ["｜DSML｜"],
  ),
  llama: {
    blocks: [
      blockSyntax({ leading: "{" }, LLAMA_JSON, SEMICOLONS),
      blockSyntax({ marker: "<|python_tag|>" }, LLAMA_JSON, {
        ...SEMICOLONS,
        alternative: PYTHON_METHOD,
      }),
      blockSyntax({ leading: "[" }, PYTHON, LIST),
    ],
    markers: ["<|python_tag|>"],
  },
  pythonic: { blocks: [blockSyntax({ leading: "[" }, PYTHON, LIST)], markers: [] },
  mistral: block("[TOOL_CALLS]", JSON_FORM, LIST),
  "mistral-args": block("[TOOL_CALLS]", MISTRAL_ARGS, {}, ["[ARGS]", "[CALL_ID]"]),
  granite: block("<|tool_call|>", JSON_FORM, LIST),
  deepseek: block(
    "<｜tool▁calls▁begin｜>",
    DEEPSEEK,
    {
      ignored: ["```", "<｜tool▁call▁end｜>"],
      holdsSeveral: true,
      close: "<｜tool▁calls▁end｜>",
    },
    ["<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"],
  ),
  kimi: block(
    "<|tool_calls_section_begin|>",
    KIMI,
    {
      ignored: ["<|tool_call_end|>"],
      holdsSeveral: true,
      close: "<|tool_calls_section_end|>",
    },
    ["<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"],
  ),
  "command-r": block("Action:\n```json", COMMAND_R_JSON, { ...LIST, pad: "\n", close: "```" }),
  "command-r7b": block("<|START_ACTION|>", COMMAND_R_JSON, { ...LIST, close: "<|END_ACTION|>" }),
  apertus: block("<|tools_prefix|>", APERTUS, {
    ...LIST,
    ignored: ["}"],
    close: "<|tools_suffix|>",
  }),
  gemma: block("<|tool_call>", GEMMA, { close: "<tool_call|>" }, ['<|"|>']),
};
