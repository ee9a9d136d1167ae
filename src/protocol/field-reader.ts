/**
 * Reads the known fields of one JSON object. `null` equals absence, unknown fields are never looked
 * at, and nothing is coerced: a string is not a number. Every problem is an `ApiError` whose `param`
 * is the path of the field (`input[2].content[0].type`).
 */
import { type ApiError, invalidRequest } from "./api-error.ts";

export interface NumberRange {
  readonly min: number;
  readonly max: number;
}

export class FieldReader {
  readonly path: string;
  readonly #fields: Readonly<Record<string, unknown>>;

  /** `path` is the object's own path, empty for the body. */
  constructor(value: unknown, path: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw invalidType(path, "an object", value);
    }
    this.path = path;
    this.#fields = value as Readonly<Record<string, unknown>>;
  }

  pathOf(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  /** The value as sent; undefined when absent or null. */
  value(name: string): unknown {
    return this.#fields[name] ?? undefined;
  }

  has(name: string): boolean {
    return this.value(name) !== undefined;
  }

  string(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === "string") return value;
    throw invalidType(this.pathOf(name), "a string", value);
  }

  requiredString(name: string): string {
    return this.string(name) ?? this.missing(name);
  }

  boolean(name: string): boolean | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw invalidType(this.pathOf(name), "a boolean", value);
  }

  number(name: string, range: NumberRange): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (typeof value !== "number") throw invalidType(this.pathOf(name), "a number", value);
    if (value >= range.min && value <= range.max) return value;
    throw this.invalid(name, `must be between ${range.min} and ${range.max}, got ${value}`);
  }

  integer(name: string, range: NumberRange): number | undefined {
    const value = this.number(name, range);
    if (value === undefined || Number.isInteger(value)) return value;
    throw invalidType(this.pathOf(name), "an integer", value);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const value = this.string(name);
    if (value === undefined) return undefined;
    const known = values.find((candidate) => candidate === value);
    if (known !== undefined) return known;
    throw this.invalid(name, `must be one of ${values.join(", ")}; got ${quote(value)}`);
  }

  array(name: string): readonly unknown[] | undefined {
    const value = this.value(name);
    if (value === undefined || Array.isArray(value)) return value;
    throw invalidType(this.pathOf(name), "an array", value);
  }

  object(name: string): FieldReader | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : new FieldReader(value, this.pathOf(name));
  }

  missing(name: string): never {
    const path = this.pathOf(name);
    throw invalidRequest("missing_required_parameter", `${path} is required`, path);
  }

  invalid(name: string, problem: string): ApiError {
    const path = this.pathOf(name);
    return invalidRequest("invalid_value", `${path} ${problem}`, path);
  }

  unsupported(name: string, reason: string): ApiError {
    return unsupportedParameter(this.pathOf(name), reason);
  }
}

export function unsupportedParameter(path: string, reason: string): ApiError {
  return invalidRequest("unsupported_parameter", `${path} is not supported: ${reason}`, path);
}

export function invalidType(path: string, expected: string, value: unknown): ApiError {
  const subject = path === "" ? "the request" : path;
  const message = `${subject} must be ${expected}, got ${describe(value)}`;
  return invalidRequest("invalid_type", message, path === "" ? null : path);
}

/** A client's string for an error message: bounded, so that a huge value is not echoed. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}...` : text);
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
