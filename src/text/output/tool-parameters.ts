/** The parameters of a tool one by one, for forms of calls that are not one JSON text. */

import { isJsonObject, type JsonObject } from "../../base/json-object.ts";

export interface ToolParameter {
  readonly name: string;
  /** A schema by itself: the definitions that it refers to are in it. */
  readonly schema: unknown;
  readonly isRequired: boolean;
  /** It can be nothing but a string. */
  readonly isText: boolean;
}

/** Keywords that say nothing about values, or only that others than the declared may come. */
const HARMLESS_KEYWORDS: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$comment",
  "title",
  "description",
  "default",
  "examples",
  "additionalProperties",
]);
const DEFINITION_KEYWORDS = ["$defs", "definitions"] as const;
const OBJECT_KEYWORDS: ReadonlySet<string> = new Set(["type", "properties", "required"]);

/** Names of the parameters that can be nothing but strings. */
export function textParameters(schema: unknown): readonly string[] {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return [];
  const properties = Object.entries(schema.properties);
  return properties.filter(([, property]) => isTextSchema(property)).map(([name]) => name);
}

/** undefined: values of the parameters one by one do not make arguments that the schema accepts. */
export function parametersOf(schema: unknown): readonly ToolParameter[] | undefined {
  if (!isJsonObject(schema) || (schema.type !== undefined && schema.type !== "object")) {
    return undefined;
  }
  const { properties, required = [] } = schema;
  if (!isJsonObject(properties) || !Array.isArray(required)) return undefined;
  const names: readonly unknown[] = required;
  const isPlain = Object.keys(schema).every(
    (key) =>
      HARMLESS_KEYWORDS.has(key) ||
      OBJECT_KEYWORDS.has(key) ||
      DEFINITION_KEYWORDS.some((keyword) => keyword === key),
  );
  const areDeclared = names.every((name) => typeof name === "string" && name in properties);
  const { $defs, definitions } = schema;
  if (!isPlain || !areDeclared || refersElsewhere([properties, $defs, definitions])) {
    return undefined;
  }
  return Object.entries(properties).map(([name, property]) => ({
    name,
    schema: withDefinitions(property, schema),
    isRequired: names.includes(name),
    isText: isTextSchema(property),
  }));
}

/** The values of a text without other constraints; undefined: any text. */
export function textValues(schema: unknown): readonly string[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  const values: unknown = "const" in schema ? [schema.const] : schema.enum;
  return Array.isArray(values) ? values.filter((value) => typeof value === "string") : undefined;
}

/** Only an enumeration bounds the text, if anything does. */
export function isFreeText(schema: unknown): boolean {
  const known = ["type", "enum", "const", ...HARMLESS_KEYWORDS, ...DEFINITION_KEYWORDS];
  if (!isJsonObject(schema) || !Object.keys(schema).every((key) => known.includes(key))) {
    return false;
  }
  return !("const" in schema && "enum" in schema);
}

function isTextSchema(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  if (schema.type !== undefined) return schema.type === "string";
  const values: unknown = "const" in schema ? [schema.const] : schema.enum;
  return Array.isArray(values) && values.length > 0 && values.every((v) => typeof v === "string");
}

/** A reference into the definitions still holds when a property stands alone; others do not. */
function refersElsewhere(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(refersElsewhere);
  if (!isJsonObject(value)) return false;
  const { $ref: reference } = value;
  const isLocal =
    typeof reference !== "string" ||
    DEFINITION_KEYWORDS.some((keyword) => reference.startsWith(`#/${keyword}/`));
  return !isLocal || Object.values(value).some(refersElsewhere);
}

function withDefinitions(property: unknown, root: JsonObject): unknown {
  if (!isJsonObject(property)) return property;
  const definitions = DEFINITION_KEYWORDS.filter((keyword) => root[keyword] !== undefined);
  return { ...property, ...Object.fromEntries(definitions.map((key) => [key, root[key]])) };
}
