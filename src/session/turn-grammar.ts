/**
 * What the output of a turn must match: calls of the allowed tools with arguments that their schemas
 * accept, and the form of the answer. Free text stays free.
 *
 * A schema is enforced exactly or refused with the reason. Only a tool that is not strict may have one
 * that cannot be enforced: its arguments are then any JSON object, and the other tools are as they were.
 */
import { invalidRequest } from "../protocol/api-error.ts";
import { unsupportedParameter } from "../protocol/field-reader.ts";
import type {
  CallableTool,
  CustomTool,
  FunctionTool,
  ResponsesRequest,
  TextFormat,
} from "../protocol/responses-types.ts";
import { callGrammar, type GrammarTool } from "../text/output/call-grammar.ts";
import { choice, type GrammarSpec } from "../text/output/grammar-spec.ts";
import type { OutputFormat, ToolFormat } from "../text/output/output-format.ts";
import { answerGrammar } from "../text/output/thinking-grammar.ts";
import { allowedTools } from "./allowed-tools.ts";
import type { GrammarChecks } from "./grammar-checks.ts";

type GrammarRequest = Pick<
  ResponsesRequest,
  "callableTools" | "toolChoice" | "parallelToolCalls" | "textFormat"
>;

export interface GrammarContext {
  /** How the model's template writes calls; undefined: the prompt is not a chat. */
  readonly toolFormat: ToolFormat | undefined;
  readonly thinking: OutputFormat["thinking"];
  readonly checks: GrammarChecks;
}

/**
 * undefined: any output.
 * @throws {ApiError} for a schema or a grammar that cannot be enforced
 */
export function turnGrammar(
  request: GrammarRequest,
  context: GrammarContext,
): GrammarSpec | undefined {
  const calls = callsOf(request, context);
  const answer = answerOf(request.textFormat, context);
  if (calls === undefined || answer === undefined) return calls ?? answer;
  return request.toolChoice.mode === "required" ? calls : choice([calls, answer]);
}

function callsOf(request: GrammarRequest, context: GrammarContext): GrammarSpec | undefined {
  const { toolFormat: format, thinking, checks } = context;
  const { toolChoice, textFormat, parallelToolCalls } = request;
  const { mode, named } = toolChoice;
  const allowed = allowedTools(request);
  if (mode === "none" || format === undefined || allowed.length === 0) return undefined;
  const isOptional = mode === "auto" && !allowed.some(isStrict);
  // Calls that need not be valid do without a grammar where the model cannot have one.
  if (isOptional && checks.problemOf({ text: true }) !== undefined) return undefined;
  const tools = allowed.map((tool) => grammarTool(tool, checks));
  // Who names one tool wants one call of it.
  const isParallel = parallelToolCalls && !(mode === "required" && named?.length === 1);
  // Beside an answer of a form of its own there is no free text: a call, or the answer.
  const callMode = textFormat.type === "text" ? mode : "required";
  return callGrammar({ format, thinking, tools, mode: callMode, isParallel });
}

function isStrict(tool: CallableTool): boolean {
  return tool.type === "custom" ? tool.format.type === "grammar" : tool.strict === true;
}

function grammarTool(tool: CallableTool, checks: GrammarChecks): GrammarTool {
  return tool.type === "custom" ? customTool(tool, checks) : functionTool(tool, checks);
}

const NO_PARAMETERS = { type: "object", properties: {}, additionalProperties: false };
const FREE_INPUT = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false,
};

function functionTool(
  { name, parameters, strict, path }: FunctionTool,
  checks: GrammarChecks,
): GrammarTool {
  const schema = parameters ?? NO_PARAMETERS;
  const problem = checks.problemOf({ json_schema: schema, name });
  if (problem === undefined) return { name, schema };
  if (strict === true) throw invalidRequest("invalid_value", problem, `${path}.parameters`);
  return { name };
}

function customTool({ name, format, path }: CustomTool, checks: GrammarChecks): GrammarTool {
  if (format.type === "text") return { name, schema: FREE_INPUT };
  const { syntax, definition } = format;
  const input: GrammarSpec = syntax === "regex" ? { regex: definition } : { lark: definition };
  const problem = checks.problemOf({ in_json_string: input });
  if (problem === undefined) return { name, input };
  throw invalidRequest("invalid_value", `${name}: ${problem}`, `${path}.format.definition`);
}

function answerOf(format: TextFormat, context: GrammarContext): GrammarSpec | undefined {
  if (format.type === "text") return undefined;
  const answer: GrammarSpec =
    format.type === "json_schema"
      ? { json_schema: format.schema, name: format.name }
      : { json_schema: { type: "object" }, whitespace: "any" };
  const problem = context.checks.problemOf(answer);
  if (problem === undefined) return answerGrammar(context.thinking, answer);
  if (format.type === "json_schema") throw invalidRequest("invalid_value", problem, format.path);
  throw unsupportedParameter("text.format", problem);
}
