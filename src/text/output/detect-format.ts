/** Which family's output format a chat template teaches, by what it contains and renders. */

import type { ThinkingFormat, ToolFormat } from "./output-format.ts";
import type { TaughtFormat } from "./write-calls.ts";

/** Names of the call that `detectToolFormat` looks for. */
export const PROBE_NAME = "probe";

/** What a call of `probe` looks like in each format; the first that matches counts. */
const CALL_PATTERNS: readonly (readonly [format: ToolFormat, pattern: RegExp])[] = [
  ["harmony", /to=functions\.probe\b/],
  ["hermes", /<tool_call>\s*\{"name": ?"probe"/],
  ["qwen-coder", /<tool_call>\s*<function=probe>/],
  ["seed", /<seed:tool_call>\s*<function=probe>/],
  ["glm", /<tool_call>\s*probe\s*<arg_key>/],
  ["dsml", /<｜DSML｜invoke name="probe">/],
  ["minimax", /<invoke name="probe">/],
  ["mistral-args", /\[TOOL_CALLS\]probe(?:\[CALL_ID\][^[\]]*)?\[ARGS\]/],
  ["mistral", /\[TOOL_CALLS\]\s*\[\s*\{/],
  ["deepseek", /<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?probe/],
  ["kimi", /<\|tool_call_begin\|>(?:functions\.)?probe/],
  ["command-r7b", /<\|START_ACTION\|>\s*\[/],
  ["command-r", /Action:\s*```json\s*\[\s*\{\s*"tool_name": "probe"/],
  ["apertus", /<\|tools_prefix\|>\[\{"probe"/],
  ["gemma", /<\|tool_call>call:probe\{/],
  ["llama", /\{"name": "probe", "parameters":/],
  ["pythonic", /\[probe\(/],
];

const THINKING_PATTERNS: readonly (readonly [format: ThinkingFormat, pattern: RegExp])[] = [
  ["harmony", /<\|channel\|>analysis/],
  ["gemma", /<\|channel>thought/],
  ["mistral", /\[THINK\]/],
  ["seed", /<seed:think>/],
  ["command-r7b", /<\|START_THINKING\|>/],
  ["apertus", /<\|inner_prefix\|>/],
  ["granite", /<response><\/response>/],
  ["think", /<\/think>/],
];

/** Of templates that show tools but no calls: what they tell the model to write. */
const TAUGHT_PATTERNS: readonly (readonly [format: TaughtFormat, pattern: RegExp])[] = [
  ["granite", /<\|tool_call\|> followed by a JSON list/],
  ["kimi", /<\|tool_calls_section_begin\|>/],
];

/** @param source of a template that shows tools and cannot show a call */
export function detectTaughtFormat(source: string): TaughtFormat | undefined {
  return TAUGHT_PATTERNS.find(([, pattern]) => pattern.test(source))?.[0];
}

/** @param rendered a conversation in which the function `probe` was called */
export function detectToolFormat(rendered: string): ToolFormat | undefined {
  return CALL_PATTERNS.find(([, pattern]) => pattern.test(rendered))?.[0];
}

/** @param source of the template; a prompt alone may hide that the model thinks */
export function detectThinkingFormat(source: string): ThinkingFormat | undefined {
  return THINKING_PATTERNS.find(([, pattern]) => pattern.test(source))?.[0];
}
