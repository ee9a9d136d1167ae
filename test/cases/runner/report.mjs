// What came of the cases, in words.

/** One line of one case. */
export function lineOf({ id, state, reason, failures }) {
  const name = id.padEnd(7);
  if (state === "ok") return `ok      ${name}`;
  if (state === "skip") return `skipped ${name} ${reason}`;
  if (state === "error") return `ERROR   ${name} ${reason}`;
  const [first, ...others] = failures;
  const more = others.length > 0 ? ` (+${others.length} more)` : "";
  return `FAIL    ${name} ${describeFailure(first)}${more}`;
}

export function describeFailure({ path, op, want, got }) {
  return `${path}${op === "any" ? "" : ` ${op} ${want}`}, got ${got}`;
}

export function totalsByArea(outcomes) {
  const totals = {};
  for (const { area, state } of outcomes) {
    totals[area] ??= { ok: 0, fail: 0, skip: 0, error: 0 };
    totals[area][state] += 1;
  }
  return totals;
}

/** A line for each area, and one for all. */
export function summaryOf(outcomes) {
  const all = outcomes.map((outcome) => ({ ...outcome, area: "total" }));
  const totals = { ...totalsByArea(outcomes), ...totalsByArea(all) };
  const lines = Object.entries(totals).map(([area, { ok, fail, skip, error }]) => {
    const errors = error > 0 ? `, errors ${error}` : "";
    return `${area.padEnd(20)} ok ${ok}, failed ${fail}, skipped ${skip}${errors}`;
  });
  return lines.join("\n");
}
