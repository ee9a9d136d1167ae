// Expectations: the operators, and whether one holds.
import { equal, isNumber, REPLACEMENT, size } from "./comparison.mjs";
import { violation } from "./schema.mjs";
import { child, expand, fail, listOf, one, own, parseJson, read } from "./values.mjs";

function pattern(text) {
  const inline = /^\(\?i\)/.exec(text);
  return new RegExp(inline ? text.slice(4) : text, inline ? "i" : "");
}

/** Operators on one value; with `*` in the path they must hold for every element. */
const SCALAR = {
  "==": equal,
  "<": (got, want) => isNumber(got) && got < want,
  "<=": (got, want) => isNumber(got) && got <= want,
  ">": (got, want) => isNumber(got) && got > want,
  ">=": (got, want) => isNumber(got) && got >= want,
  in: (got, want) => want.some((item) => equal(got, item)),
  re: (got, want) => typeof got === "string" && pattern(want).test(got),
  nre: (got, want) => typeof got === "string" && !pattern(want).test(got),
  len: (got, want) => size(got) === want,
  "len>=": (got, want) => size(got) >= want,
  "len<=": (got, want) => size(got) <= want,
  json: (got) => typeof got === "string" && parseJson(got) !== undefined,
  utf8: (got) => typeof got === "string" && got.isWellFormed() && !got.includes(REPLACEMENT),
  absent: (got) => got === undefined || got === null,
  well_formed: (got) => typeof got === "string" && got.isWellFormed(),
};

const NUMERIC = new Set(["<", "<=", ">", ">="]); // their right side may be a path
const EACH = { maxlen: "len<=" };
const contains = (list, want) =>
  list.some(
    (item) =>
      equal(item, want) ||
      (typeof item === "string" && typeof want === "string" && item.includes(want)),
  );
const present = (list) => list.filter((item) => item !== undefined && item !== null);
const sameIndexed = (got, want) =>
  got.every(
    (item) =>
      item.value !== undefined &&
      want.some((other) => other.index === item.index && equal(item.value, other.value)),
  );

/** Operators on the list as a whole, or with a second path. Each gets (found, want, scope, path). */
const WHOLE = {
  hasnt: (found, want) => present(listOrOne(found)).length > 0 && !contains(listOrOne(found), want),
  unique: (found) =>
    listOf(found).length > 0 &&
    new Set(listOf(found).map((item) => JSON.stringify(item))).size === listOf(found).length,
  all_same: (found) =>
    listOf(found).length > 1 &&
    listOf(found)[0] !== undefined &&
    listOf(found).every((item) => equal(item, listOf(found)[0])),
  same_across: (found) => WHOLE.all_same(found),
  covers: (found, want) => want.every((item) => listOf(found).some((value) => equal(value, item))),
  same: (found, want, scope) =>
    one(found) !== undefined && equal(one(found), one(read(scope, want))),
  differs: (found, want, scope) =>
    ![one(found), one(read(scope, want))].includes(undefined) &&
    !equal(one(found), one(read(scope, want))),
  "diff>=": (found, [other, least], scope) => one(found) - one(read(scope, other)) >= least,
  "<=x": (found, want, scope) =>
    one(found) <= one(read(scope, want.split("|")[0])) * Number(want.split("|")[1]),
  before_first: (found, want, scope) => one(found) === textBeforeSlice(want, scope),
  same_by_index: (found, want, scope, where) =>
    found.values.length > 0 && sameIndexed(indexed(where, scope), indexed(want, scope)),
  bytes_join_is: (found, want, scope) =>
    Buffer.from(listOf(found).flatMap((bytes) => bytes ?? [-1])).equals(
      Buffer.from(String(one(read(scope, want)))),
    ),
  join_re: (found, want) => pattern(want).test(present(listOf(found)).join("")),
  absent_after: (found) => (one(found) ?? []).length === 0,
  valid_items: (found) =>
    listOf(found).length > 0 && listOf(found).every((item) => item?.type || item?.role),
  schema_if_stop: (_found, _want, scope, where) => allEndedFit(ownersOf(where, scope)),
};

const SECOND_PATH = new Set([
  "same",
  "differs",
  "<=x",
  "before_first",
  "same_by_index",
  "bytes_join_is",
]);
const listOrOne = (found) =>
  found.star || Array.isArray(one(found)) ? listOf(found) : [one(found)];

function textBeforeSlice(want, scope) {
  const [where, range] = want.split("|");
  const text = one(read(scope, where)) ?? "";
  const [from, to] = range.split(":").map(Number);
  const mark = text.slice(from, to);
  return mark === "" ? undefined : text.slice(0, text.indexOf(mark));
}

/** The runs a path such as `a.*.text` takes its values from. */
const ownersOf = (where, scope) => read(scope, where.slice(0, where.lastIndexOf("."))).values;
const indexed = (where, scope) =>
  ownersOf(where, scope).map((run) => ({
    index: run?.index,
    value: child(run, where.slice(where.lastIndexOf(".") + 1)),
  }));

/** Every answer that came to its end is valid for its request's schema, and there is one. */
function allEndedFit(runs) {
  const ended = runs.filter((run) => run.finish === "stop");
  return (
    ended.length > 0 && ended.every((run) => !violation(requestSchema(run), parseJson(run.text)))
  );
}

function requestSchema(run) {
  const schema =
    run.request?.response_format?.json_schema?.schema ?? run.request?.text?.format?.schema;
  return schema ?? fail("schema_if_stop, but the request has no schema");
}

export function knownOperator(name, extra) {
  return (
    name === "any" ||
    own(SCALAR, name) ||
    own(WHOLE, name) ||
    own(extra, name) ||
    eachName(name) !== undefined
  );
}

function eachName(name) {
  const inner = /^each_?(.+)$/.exec(name)?.[1];
  return EACH[inner] ?? (inner === "has" || own(SCALAR, inner ?? "") ? inner : undefined);
}

/** Returns null when the expectation holds, else what was found. */
export function check([where, operator, want], scope, extra) {
  if (operator === "any") return checkAny(want, scope, extra);
  const found = read(scope, where);
  const got = one(found);
  const wanted = expand(want, scope.expandContext);
  if (holds(found, operator, wanted, scope, where, extra)) return null;
  return { path: where, op: operator, want: explain(operator, wanted, scope), got: brief(got) };
}

/** For operators that compare with a second path: the path and what stands there. */
function explain(operator, want, scope) {
  const isPath =
    SECOND_PATH.has(operator) ||
    (typeof want === "string" && NUMERIC.has(operator.replace(/^each/, "")));
  const other = operator === "diff>=" ? want[0] : isPath ? want.split("|")[0] : undefined;
  return other === undefined
    ? brief(want)
    : `${[want].flat().join(" ")} (${brief(one(read(scope, other)))})`;
}

function holds(found, operator, want, scope, where, extra) {
  if (own(extra, operator)) return extra[operator](one(found), want, scope);
  if (own(WHOLE, operator)) return Boolean(WHOLE[operator](found, want, scope, where));
  const each = operator.startsWith("each") ? eachName(operator) : undefined;
  if (each) return holdsForEach(found, each, want, scope);
  if (NUMERIC.has(operator) && typeof want === "string")
    return SCALAR[operator](one(found), one(read(scope, want)));
  if (!found.star || (operator === "==" && Array.isArray(want)))
    return Boolean(SCALAR[operator](one(found), want));
  return found.values.length > 0 && found.values.every((value) => SCALAR[operator](value, want));
}

function holdsForEach(found, operator, want, scope) {
  // Events without a delta do not count.
  const values = operator === "well_formed" ? present(listOf(found)) : listOf(found);
  const isPath = typeof want === "string" && NUMERIC.has(operator);
  const wants = isPath ? read(scope, want).values : null;
  const test = operator === "has" ? (value, item) => contains([value], item) : SCALAR[operator];
  return (
    values.length > 0 &&
    values.every((value, k) => test(value, wants ? wants[wants.length === 1 ? 0 : k] : want))
  );
}

function checkAny(branches, scope, extra) {
  const failures = branches.map((branch) =>
    branch.map((expectation) => check(expectation, scope, extra)).find(Boolean),
  );
  if (failures.includes(undefined)) return null;
  return {
    path: "$any",
    op: "any",
    want: "one of the branches",
    got: failures.map((f) => `${f.path} ${f.op} ${f.want}: ${f.got}`).join(" | "),
  };
}

export function brief(value) {
  const text =
    value === undefined
      ? "nothing"
      : typeof value === "string"
        ? JSON.stringify(value)
        : JSON.stringify(value, (_, v) => v ?? null);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
