/**
 * What form the answer's text must have: `text.format` of Responses, `response_format` of Chat
 * Completions and Completions. Whether a schema can be enforced is the session's to find out. Pure.
 */
import { type FieldReader, quote } from "./field-reader.ts";
import type { TextFormat } from "./responses-types.ts";

const FORMAT_TYPES = ["text", "json_object", "json_schema"] as const;
const FORMAT_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const FREE_TEXT: TextFormat = { type: "text" };

export function parseTextFormat(body: FieldReader): TextFormat {
  const text = body.object("text");
  text?.oneOf("verbosity", ["low", "medium", "high"]);
  const format = text?.object("format");
  return format === undefined ? FREE_TEXT : parseFormat(format, () => format);
}

export function parseResponseFormat(body: FieldReader): TextFormat {
  const format = body.object("response_format");
  if (format === undefined) return FREE_TEXT;
  return parseFormat(format, () => format.object("json_schema") ?? format.missing("json_schema"));
}

/** `schemaFields` has name, schema and strict: flat in Responses, nested in Chat Completions. */
function parseFormat(format: FieldReader, schemaFields: () => FieldReader): TextFormat {
  const type = format.oneOf("type", FORMAT_TYPES) ?? format.missing("type");
  if (type !== "json_schema") return { type };
  const fields = schemaFields();
  const name = fields.requiredString("name");
  if (!FORMAT_NAME.test(name)) {
    throw fields.invalid(
      "name",
      `must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -; got ${quote(name)}`,
    );
  }
  fields.string("description");
  fields.boolean("strict");
  if (fields.object("schema") === undefined) return fields.missing("schema");
  return { type, name, schema: fields.value("schema"), path: fields.pathOf("schema") };
}
