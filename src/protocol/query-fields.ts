/** Values of a query string, which are texts whatever they mean. Every problem names the parameter. */
import { invalidRequest } from "./api-error.ts";
import { type NumberRange, quote } from "./field-reader.ts";

/** All values of a list, in any of the spellings `name=`, `name[]=` and `name[0]=`. */
export function queryList(query: URLSearchParams, name: string): readonly string[] {
  const isOfList = (key: string): boolean => key === name || /^\[\d*\]$/.test(tail(key, name));
  return [...query].filter(([key]) => isOfList(key)).map(([, value]) => value);
}

export function queryInteger(
  query: URLSearchParams,
  name: string,
  { min, max }: NumberRange,
): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw invalidQuery(name, `must be a whole number from ${min} to ${max}; got ${quote(text)}`);
}

export function queryOneOf<T extends string>(
  query: URLSearchParams,
  name: string,
  values: readonly T[],
): T | undefined {
  const text = query.get(name);
  const known = values.find((value) => value === text);
  if (text === null || known !== undefined) return known;
  throw invalidQuery(name, `must be one of ${values.join(", ")}; got ${quote(text)}`);
}

export function invalidQuery(name: string, problem: string): Error {
  return invalidRequest("invalid_value", `${name} ${problem}`, name);
}

function tail(key: string, name: string): string {
  return key.startsWith(name) ? key.slice(name.length) : "";
}
