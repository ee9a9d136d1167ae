/** ajv as the judge of values: draft 2020-12 with formats, unknown keywords and formats ignored. */
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { JsonSchema } from "./real-tools.ts";

export type Judge = (value: unknown) => boolean;

export function judgeOf(schema: JsonSchema): Judge {
  const ajv = new Ajv2020({ strict: false, logger: false });
  addFormats.default(ajv);
  const { $schema, ...rest } = schema;
  const validate = ajv.compile(rest);
  return (value) => validate(value) === true;
}
