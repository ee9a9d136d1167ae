/** Real tools as grammars, and texts of random calls of them. */
import { SchemaValues } from "../../test/tools/schema-values.ts";
import { seededRandom } from "../../test/seeded-random.ts";

/** As Python's json writes: the spaced form of our grammars. */
export function spacedJson(value) {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}: ${spacedJson(member)}`,
  );
  return `{${members.join(", ")}}`;
}

export const specOf = ({ inputSchema, name }) => JSON.stringify({ json_schema: inputSchema, name });

/** Arguments of `count` calls. */
export function callTexts({ inputSchema }, count) {
  const values = new SchemaValues(inputSchema, seededRandom(7));
  return Array.from({ length: count }, () => spacedJson(values.next()));
}
