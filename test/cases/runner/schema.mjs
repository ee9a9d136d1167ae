// The JSON Schema keywords that the cases use; any other keyword is an error of the case.
import { equal, isNumber, size } from "./comparison.mjs";
import { fail, own } from "./values.mjs";

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const TYPES = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  number: isNumber,
  integer: Number.isInteger,
};

const KEYWORDS = {
  type: (want, value) => [want].flat().some((name) => TYPES[name](value)),
  enum: (want, value) => want.some((item) => equal(item, value)),
  const: (want, value) => equal(want, value),
  anyOf: (want, value, root) => want.some((branch) => !violation(branch, value, root)),
  $ref: (want, value, root) => !violation(resolvePointer(want, root), value, root),
  $defs: () => true,
  properties: (want, value, root) =>
    !isObject(value) ||
    Object.keys(want).every((key) => !own(value, key) || !violation(want[key], value[key], root)),
  required: (want, value) => !isObject(value) || want.every((key) => own(value, key)),
  additionalProperties: (want, value, _root, schema) =>
    !isObject(value) ||
    want !== false ||
    Object.keys(value).every((key) => own(schema.properties ?? {}, key)),
  items: (want, value, root) =>
    !Array.isArray(value) || value.every((item) => !violation(want, item, root)),
  minItems: (want, value) => !Array.isArray(value) || value.length >= want,
  maxItems: (want, value) => !Array.isArray(value) || value.length <= want,
  minLength: (want, value) => typeof value !== "string" || size(value) >= want,
  maxLength: (want, value) => typeof value !== "string" || size(value) <= want,
  minimum: (want, value) => !isNumber(value) || value >= want,
  maximum: (want, value) => !isNumber(value) || value <= want,
  pattern: (want, value) => typeof value !== "string" || new RegExp(want, "u").test(value),
};

/** The first keyword the value breaks, or null. */
export function violation(schema, value, root = schema) {
  if (value === undefined) return "not JSON";
  for (const [keyword, want] of Object.entries(schema)) {
    if (!own(KEYWORDS, keyword)) fail(`schema keyword ${keyword} is not known to the runner`);
    if (!KEYWORDS[keyword](want, value, root, schema)) return keyword;
  }
  return null;
}

function resolvePointer(reference, root) {
  const parts = reference
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
  return parts.reduce((node, part) => node[part], root);
}
