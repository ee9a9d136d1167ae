/**
 * Random values that a JSON Schema validates, for the keywords of real tools, and random changes of
 * them. Members come in the order of `properties`. What a pattern or format allows is a list of
 * examples, so that the values owe nothing to the code under test.
 */
import type { JsonSchema } from "./real-tools.ts";

type Json = unknown;
type Random = () => number;

/** Texts that match the patterns of the catalogue. */
const PATTERN_EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$": [
    "example.com",
    "a.b-c.d0.org",
    "x1.io",
  ],
  "^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$":
    [
      "123e4567-e89b-42d3-a456-426614174000",
      "00000000-0000-0000-0000-000000000000",
      "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ],
  "^[a-z0-9][a-z0-9_-]*$": ["a", "index-1", "my_space"],
  "^\\d{4}-\\d{2}-\\d{2}to\\d{4}-\\d{2}-\\d{2}$": ["2024-01-01to2024-12-31"],
  "^\\d{4}-\\d{2}-\\d{2}$": ["2024-02-29", "1999-12-31"],
};

const FORMAT_EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  uuid: ["123e4567-e89b-12d3-a456-426614174000", "00000000-0000-4000-8000-00000000000f"],
  uri: ["https://example.com/a?b=c#d", "file:///tmp/x", "urn:isbn:12345"],
  "date-time": ["2024-05-06T07:08:09Z", "2024-12-31T23:59:59.25+02:00"],
};

const TEXTS = [
  "",
  "a",
  "main",
  "src/index.ts",
  'say "hi"\\n',
  "line\nbreak\ttab",
  "naïve 漢字 🐚",
  "a {b: [1, 2]} </tool_call>",
  "x".repeat(300),
];

export class SchemaValues {
  readonly #root: JsonSchema;
  readonly #random: Random;

  constructor(root: JsonSchema, random: Random) {
    this.#root = root;
    this.#random = random;
  }

  next(): Json {
    return this.#value(this.#root, 0);
  }

  #value(schema: JsonSchema | boolean, depth: number): Json {
    if (schema === true) return this.#pick<Json>([null, true, 5, "any", [], {}]);
    if (schema === false) throw new Error("no value matches false");
    if (typeof schema.$ref === "string") return this.#value(this.#resolve(schema.$ref), depth);
    if ("const" in schema) return schema.const;
    if (Array.isArray(schema.enum)) return this.#pick(schema.enum);
    const union = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(union)) {
      const option = this.#pick<JsonSchema>(union);
      const { anyOf, oneOf, ...rest } = schema;
      return this.#value({ ...rest, ...option }, depth);
    }
    return this.#typed(schema, depth);
  }

  #typed(schema: JsonSchema, depth: number): Json {
    const types = schema.type ?? impliedType(schema);
    const type = Array.isArray(types) ? this.#pick<string>(types) : types;
    switch (type) {
      case "object":
        return this.#object(schema, depth);
      case "array":
        return this.#array(schema, depth);
      case "string":
        return this.#string(schema);
      case "integer":
        return Math.trunc(this.#number(schema, 1));
      case "number":
        return this.#number(schema, this.#pick([1, 0.5, 0.25]));
      case "boolean":
        return this.#random() < 0.5;
      case "null":
        return null;
      default:
        return this.#value(true, depth);
    }
  }

  #object(schema: JsonSchema, depth: number): Json {
    const required = new Set(arrayOf<string>(schema.required));
    const members = Object.entries(recordOf<JsonSchema>(schema.properties))
      .filter(([name]) => required.has(name) || (depth < 4 && this.#random() < 0.5))
      .map(([name, member]) => [name, this.#value(member, depth + 1)] as const);
    const extra = schema.additionalProperties;
    const isOpen = typeof extra === "object" && extra !== null && depth < 4;
    const added = isOpen && this.#random() < 0.7 ? [this.#added(schema, extra, depth)] : [];
    return Object.fromEntries([...members, ...added]);
  }

  #added(schema: JsonSchema, extra: object, depth: number): readonly [string, Json] {
    const names = recordOf<JsonSchema>(schema.propertyNames);
    const name = Object.keys(names).length > 0 ? this.#string(names) : this.#pick(["k1", "other"]);
    return [name, this.#value(extra as JsonSchema, depth + 1)];
  }

  #array(schema: JsonSchema, depth: number): Json {
    const min = numberOf(schema.minItems) ?? 0;
    const max = Math.min(numberOf(schema.maxItems) ?? min + 3, min + 3);
    const length = depth > 4 ? min : min + Math.floor(this.#random() * (max - min + 1));
    const items = (schema.items ?? true) as JsonSchema | boolean;
    return Array.from({ length }, () => this.#value(items, depth + 1));
  }

  #string(schema: JsonSchema): string {
    if (Array.isArray(schema.enum)) return String(this.#pick(schema.enum));
    const examples =
      typeof schema.pattern === "string"
        ? PATTERN_EXAMPLES[schema.pattern]
        : (FORMAT_EXAMPLES[String(schema.format)] ?? TEXTS);
    if (examples === undefined) throw new Error(`no example of the pattern ${schema.pattern}`);
    const min = numberOf(schema.minLength) ?? 0;
    const max = numberOf(schema.maxLength) ?? Number.POSITIVE_INFINITY;
    const fitting = examples.filter((text) => [...text].length >= min && [...text].length <= max);
    return fitting.length > 0 ? this.#pick(fitting) : "y".repeat(min);
  }

  #number(schema: JsonSchema, step: number): number {
    const above = numberOf(schema.exclusiveMinimum);
    const below = numberOf(schema.exclusiveMaximum);
    const low = numberOf(schema.minimum) ?? (above === undefined ? -1000 : above + step);
    const high = numberOf(schema.maximum) ?? (below === undefined ? low + 5000 : below - step);
    const numSteps = Math.floor((high - low) / step);
    const value = low + Math.floor(this.#random() * (numSteps + 1)) * step;
    return Object.is(value, -0) ? 0 : value;
  }

  #resolve(reference: string): JsonSchema {
    const parts = reference.replace(/^#\/?/, "").split("/").filter(Boolean);
    let at: unknown = this.#root;
    for (const part of parts) at = (at as Record<string, unknown>)[decodeURIComponent(part)];
    return at as JsonSchema;
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }
}

/** The value with one thing in it changed: a member dropped or added, a value of another type. */
export function mutate(value: Json, random: Random): Json {
  const replacements = [null, true, -3.5, "changed", ["changed"], { changed: 1 }];
  const replacement = replacements[Math.floor(random() * replacements.length)];
  if (typeof value !== "object" || value === null || random() < 0.15) return replacement;
  if (Array.isArray(value)) {
    const at = Math.floor(random() * (value.length + 1));
    return at === value.length
      ? [...value, replacement]
      : value.map((item, index) => (index === at ? mutate(item, random) : item));
  }
  const entries = Object.entries(value);
  const at = Math.floor(random() * (entries.length + 1));
  if (at === entries.length) return { ...value, not_in_the_schema: replacement };
  const [name, member] = entries[at] as [string, Json];
  if (random() < 0.3) return Object.fromEntries(entries.filter((_, index) => index !== at));
  return { ...value, [name]: mutate(member, random) };
}

/** With ", " and ": " between tokens. */
export function spacedJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${spacedJson(member)}`,
  );
  return `{${members.join(", ")}}`;
}

function impliedType(schema: JsonSchema): string | undefined {
  if ("properties" in schema || "required" in schema) return "object";
  return "items" in schema ? "array" : undefined;
}

function arrayOf<T>(value: unknown): readonly T[] {
  return Array.isArray(value) ? value : [];
}

function recordOf<T>(value: unknown): Readonly<Record<string, T>> {
  return typeof value === "object" && value !== null ? (value as Record<string, T>) : {};
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
