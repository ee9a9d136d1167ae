/** The grammar of `key=value, ...` between the parentheses of a call, with values in JSON. */

import { choice, EMPTY, type GrammarSpec, literal, optional, sequence } from "./grammar-spec.ts";
import type { ToolParameter } from "./tool-parameters.ts";

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Each optional parameter that could come first repeats the grammar of those behind it. */
const MAX_LEADING_OPTIONAL = 4;

/** undefined: these parameters cannot be written as keywords. */
export function keywordArguments(
  toolName: string,
  parameters: readonly ToolParameter[],
): GrammarSpec | undefined {
  const firstRequired = parameters.findIndex(({ isRequired }) => isRequired);
  const numLeading = firstRequired < 0 ? parameters.length : firstRequired;
  const areKeywords = parameters.every(({ name }) => IDENTIFIER.test(name));
  if (!areKeywords || numLeading > MAX_LEADING_OPTIONAL) return undefined;
  return firstOf(toolName, parameters);
}

/** Nothing stands in front. */
function firstOf(toolName: string, parameters: readonly ToolParameter[]): GrammarSpec {
  const [parameter, ...rest] = parameters;
  if (parameter === undefined) return EMPTY;
  const present = sequence(
    keyword(toolName, parameter, ""),
    ...rest.map((next) => {
      const spec = keyword(toolName, next, ", ");
      return next.isRequired ? spec : optional(spec);
    }),
  );
  return parameter.isRequired ? present : choice([present, firstOf(toolName, rest)]);
}

function keyword(
  toolName: string,
  { name, schema }: ToolParameter,
  separator: string,
): GrammarSpec {
  return sequence(literal(`${separator}${name}=`), { json_schema: schema, name: toolName });
}
