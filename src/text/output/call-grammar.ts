/**
 * Grammars of calls, family by family: what `callGrammar` derives is what the family's parser reads as
 * calls of these tools, with arguments that their schemas accept. Pure.
 *
 * Arguments are one JSON text wherever the family writes JSON, or reads it besides its own form. Tags
 * and keyword arguments are used where each parameter can be constrained by itself.
 */

import { isJsonObject } from "../../base/json-object.ts";
import { CALL_FORMATS } from "./call-formats.ts";
import type { BlockSyntax, JsonForm, TaggedForm } from "./call-syntax.ts";
import {
  choice,
  EMPTY,
  type GrammarSpec,
  literal,
  marker,
  optional,
  sequence,
} from "./grammar-spec.ts";
import { harmonyCalls } from "./harmony-grammar.ts";
import { keywordArguments } from "./keyword-arguments.ts";
import { textWithoutCall } from "./leading-text.ts";
import type { OutputFormat, ToolFormat } from "./output-format.ts";
import { thinkingMarkers } from "./thinking-formats.ts";
import { thinkingFirst } from "./thinking-grammar.ts";
import { isFreeText, parametersOf, textValues, type ToolParameter } from "./tool-parameters.ts";

export interface GrammarTool {
  readonly name: string;
  /** JSON Schema of the arguments; undefined: any object. */
  readonly schema?: unknown;
  /** A free-form tool: the grammar of its one argument `input`, a text. */
  readonly input?: GrammarSpec;
}

export interface CallGrammarOptions {
  readonly format: ToolFormat;
  readonly thinking?: OutputFormat["thinking"];
  /** Those that may be called here: at least one. */
  readonly tools: readonly GrammarTool[];
  /** `required`: the output is calls; `auto`: free text is allowed, and constrained calls in it. */
  readonly mode: "auto" | "required";
  /** More than one call may come. */
  readonly isParallel: boolean;
}

export function callGrammar(options: CallGrammarOptions): GrammarSpec {
  const { format, tools, mode, isParallel, thinking } = options;
  if (format === "harmony") {
    const calls = tools.map((tool) => ({ name: tool.name, args: jsonArguments(tool) }));
    return harmonyCalls(calls, mode);
  }
  const { blocks } = CALL_FORMATS[format];
  const [written] = blocks;
  if (written === undefined) return EMPTY;
  if (mode === "required") return thinkingFirst(thinking, calls(written, tools, isParallel));
  const isLeading = blocks.some(({ opening }) => "leading" in opening);
  const output = isLeading
    ? leadingCalls(blocks, options)
    : markedCalls(written, tools, isParallel);
  return thinkingFirst(thinking, output);
}

/** Text, and calls wherever their marker comes. */
function markedCalls(
  block: BlockSyntax,
  tools: readonly GrammarTool[],
  isParallel: boolean,
): GrammarSpec {
  const open = "marker" in block.opening ? block.opening.marker : "";
  const text: GrammarSpec = { text: true, excluding: [open] };
  const called = sequence({ text_until: open }, blockRest(block, tools, isParallel));
  return isParallel ? sequence({ repeat: called }, text) : choice([called, text]);
}

/**
 * Calls, or text that does not start like one. The family's other ways to write a call are left out,
 * but for a marker in front: each would compile all schemas once more.
 */
function leadingCalls(
  blocks: readonly BlockSyntax[],
  { tools, isParallel, thinking }: CallGrammarOptions,
): GrammarSpec {
  const [written] = blocks;
  if (written === undefined) return EMPTY;
  const markers = blocks.flatMap(({ opening, form }) =>
    "marker" in opening && form === written.form ? marker(opening.marker) : [],
  );
  const rest = calls(written, tools, isParallel);
  return choice([
    markers.length === 0 ? rest : sequence(optional(choice(markers)), rest),
    textWithoutCall(blocks, thinking && thinkingMarkers(thinking.format)?.open),
  ]);
}

/** One block, or a row of them where a block holds but one call. */
function calls(
  block: BlockSyntax,
  tools: readonly GrammarTool[],
  isParallel: boolean,
): GrammarSpec {
  const open = marker("marker" in block.opening ? block.opening.marker : "");
  const whole = sequence(open, blockRest(block, tools, isParallel));
  return !isParallel || block.holdsSeveral ? whole : row(whole, block.between);
}

/** From behind the opening to the end of the block. */
function blockRest(
  block: BlockSyntax,
  tools: readonly GrammarTool[],
  isParallel: boolean,
): GrammarSpec {
  const { isList, holdsSeveral, between, close } = block;
  const call = choice(tools.map((tool) => callOf(block, tool)));
  const isSeveral = isParallel && holdsSeveral;
  const rest = isSeveral ? { repeat: sequence(literal(between), call) } : EMPTY;
  const list = sequence(literal("["), call, rest, literal("]"));
  const bare = isSeveral ? row(call, between) : call;
  const pad = literal(block.pad);
  return sequence(pad, isList ? list : bare, pad, marker(close ?? ""));
}

/**
 * One or more. What stands between two may also stand behind the last, where it means nothing: so all
 * schemas are compiled once.
 */
function row(part: GrammarSpec, between: string): GrammarSpec {
  const separator = between === "" ? EMPTY : optional(literal(between));
  return { repeat: sequence(part, separator), min: 1 };
}

function callOf({ form, close }: BlockSyntax, tool: GrammarTool): GrammarSpec {
  switch (form.kind) {
    case "json":
      return jsonCall(form, tool);
    case "named":
      return sequence(marker(form.write(tool.name)), jsonArguments(tool), marker(form.end));
    case "tagged": {
      const tagged = taggedCall(form, tool);
      if (tagged === undefined) return jsonCall(PLAIN_JSON, tool);
      return form.close === close ? tagged : sequence(tagged, marker(form.close));
    }
    case "literal":
      return form.literals.hasSpread
        ? sequence(literal(`${tool.name}(`), pythonArguments(tool), literal(")"))
        : sequence(literal(`${form.prefix}${tool.name}`), jsonArguments(tool));
  }
}

const PLAIN_JSON: JsonForm = { kind: "json", nameKey: "name", argumentsKey: "arguments" };

function jsonCall({ nameKey, argumentsKey }: JsonForm, tool: GrammarTool): GrammarSpec {
  const head = `{"${nameKey}": ${JSON.stringify(tool.name)}, "${argumentsKey}": `;
  return sequence(literal(head), jsonArguments(tool), literal("}"));
}

/** The arguments as one JSON object. */
function jsonArguments({ name, schema, input }: GrammarTool): GrammarSpec {
  if (input === undefined) return { json_schema: objectSchema(schema), name };
  return sequence(literal('{"input": "'), { in_json_string: input }, literal('"}'));
}

/** Arguments are objects, whatever else the schema allows. */
export function objectSchema(schema: unknown): unknown {
  if (!isJsonObject(schema)) return { type: "object" };
  return schema.type === "object" ? schema : { ...schema, type: "object" };
}

function pythonArguments(tool: GrammarTool): GrammarSpec {
  const parameters = tool.input === undefined ? parametersOf(tool.schema) : undefined;
  const keywords = parameters && keywordArguments(tool.name, parameters);
  return keywords ?? sequence(literal("**"), jsonArguments(tool));
}

/** Without its closing tag. undefined: some parameter cannot be constrained in tags. */
function taggedCall(form: TaggedForm, tool: GrammarTool): GrammarSpec | undefined {
  const parameters = tool.input === undefined ? parametersOf(tool.schema) : undefined;
  const specs = parameters?.map((parameter) => taggedParameter(form, tool.name, parameter));
  if (specs === undefined || !specs.every((spec) => spec !== undefined)) return undefined;
  const open = marker(`${form.open}${tool.name}${form.nameClose}`);
  return sequence(open, ...specs);
}

function taggedParameter(
  form: TaggedForm,
  toolName: string,
  { name, schema, isRequired, isText }: ToolParameter,
): GrammarSpec | undefined {
  const value = isText
    ? taggedText(form, schema)
    : sequence({ json_schema: schema, name: toolName }, marker(valueClose(form)));
  if (value === undefined) return undefined;
  const key = `${form.parameterOpen}${form.writeKey(name, isText)}${form.valueOpen}`;
  const open = sequence(marker(key), literal(form.isPadded ? "\n" : ""));
  const whole = sequence(open, value, literal("\n"));
  return isRequired ? whole : optional(whole);
}

/** With its closing tag, which ends it. */
function taggedText(form: TaggedForm, schema: unknown): GrammarSpec | undefined {
  if (!isFreeText(schema)) return undefined;
  const values = textValues(schema);
  // The parser ends the value at the tag, whether a line break stands in front or not.
  if (values === undefined) return { text_until: form.parameterClose };
  if (values.some((value) => value.includes(form.parameterClose))) return undefined;
  return sequence(choice(values.map(literal)), marker(valueClose(form)));
}

function valueClose({ isPadded, parameterClose }: TaggedForm): string {
  return isPadded ? `\n${parameterClose}` : parameterClose;
}
