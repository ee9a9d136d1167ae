// Values of a request (`$rep`, `$get`, ...) and paths into results (`a.*.usage.input_tokens`).

/** The case itself cannot be understood: always an error, never a pass. */
export class CaseError extends Error {}

export function fail(message) {
  throw new CaseError(message);
}

const SCHEMA_WORDS = new Set(["$ref", "$defs", "$schema", "$id"]); // JSON Schema's own, passed through

const VALUES = {
  $rep: ([text, count], context) => expand(text, context).repeat(count),
  $range: ([from, to, format]) =>
    Array.from({ length: to - from }, (_, k) => printf(format, from + k)),
  $cat: (parts, context) => parts.map((part) => expand(part, context)).join(""),
  $slice: ([from, start, end], context) =>
    String(one(read(context.results, from)) ?? "").slice(start, end ?? undefined),
  $get: (from, context) => one(read(context.results, from)),
  $pick: (list, context) => expand(list[context.index % list.length], context),
  $tmpl: (format, context) => printf(format, context.index),
  $i: (start, context) => start + context.index,
};

/** `%d`, `%05d` and `%s` filled with one number; nothing else of printf is used by the cases. */
function printf(format, number) {
  return format.replace(/%0?(\d*)d|%s/g, (_, width) =>
    String(number).padStart(Number(width || 0), "0"),
  );
}

export function expand(value, context) {
  if (typeof value === "string")
    return value.replace(/\$(M|P|TMP|KEYS|KEY1)\b/g, (all, name) => context.vars[name] ?? all);
  if (Array.isArray(value))
    return value.flatMap((item) =>
      item?.$spread ? (one(read(context.results, item.$spread)) ?? []) : [expand(item, context)],
    );
  if (value === null || typeof value !== "object") return value;
  const operator = valueOperator(value);
  if (operator) return VALUES[operator](value[operator], context);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, expand(inner, context)]),
  );
}

export function valueOperator(value) {
  const name = Object.keys(value).find((key) => key.startsWith("$") && !SCHEMA_WORDS.has(key));
  if (name === undefined || name === "$spread")
    return name === "$spread" ? fail("$spread outside an array") : undefined;
  if (!Object.hasOwn(VALUES, name) || Object.keys(value).length !== 1)
    fail(`unknown value operator ${name}`);
  return name;
}

// ---- paths

/** Follows a path such as `a.*.calls.0.arguments.$json.n`; `*` makes the result a list. */
export function read(root, where) {
  const segments = where.split(".");
  let values = [root];
  let star = false;
  for (let k = 0; k < segments.length; k++) {
    const segment = segments[k];
    const rest = segments.slice(k).join("."); // keys with a dot in them (file names) are taken whole
    if (values.length === 1 && !Array.isArray(values[0]) && own(values[0], rest))
      return { star, values: [values[0][rest]] };
    if (segment.endsWith("*")) {
      star = true;
      const prefix = segment.slice(0, -1);
      values = values.flatMap((value) =>
        Object.entries(value ?? {})
          .filter(([key]) => key.startsWith(prefix))
          .map(([, inner]) => inner),
      );
    } else values = values.map((value) => child(value, segment));
  }
  return { star, values };
}

export const own = (value, key) =>
  value !== null && typeof value === "object" && Object.hasOwn(value, key);

export function child(value, segment) {
  if (segment === "$json") return typeof value === "string" ? parseJson(value) : undefined;
  if (Array.isArray(value)) return /^-?\d+$/.test(segment) ? value.at(Number(segment)) : undefined;
  return own(value, segment) ? value[segment] : undefined;
}

export const one = (found) => (found.star ? found.values : found.values[0]);
export const listOf = (found) =>
  found.star ? found.values : Array.isArray(found.values[0]) ? found.values[0] : [];

export function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
