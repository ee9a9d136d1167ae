/** ajv as the judge of values: draft 2020-12 with formats, unknown keywords and formats ignored. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isJsonPrefix, wholeMembers } from "./json-prefix.ts";
import type { JsonSchema } from "./real-tools.ts";

export type Judge = (value: unknown) => boolean;

export function judgeOf(schema: JsonSchema): Judge {
  const validate = compile(schema);
  return (value) => validate(value) === true;
}

/** What a member that is still to come can mend, said of the whole object. */
const MENDED_LATER: ReadonlySet<string> = new Set([
  "required",
  "minProperties",
  "dependentRequired",
  "anyOf",
  "oneOf",
  "if",
]);

/** Judges the beginning of an object: it is one, and each member that is whole is valid. */
export function prefixJudgeOf(schema: JsonSchema): (text: string) => boolean {
  const validate = compile(schema);
  return (text) => {
    if (!text.startsWith("{") || !isJsonPrefix(text)) return false;
    if (validate(wholeMembers(text)) === true) return true;
    return (validate.errors ?? []).every(
      ({ instancePath, keyword }) => instancePath === "" && MENDED_LATER.has(keyword),
    );
  };
}

function compile({ $schema, ...schema }: JsonSchema): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, logger: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(schema);
}
