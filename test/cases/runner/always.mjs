// What must hold for every answer, whatever its case asks for.
import { REPLACEMENT } from "./comparison.mjs";
import { brief } from "./expect.mjs";

const ERROR_KEYS = ["code", "message", "param", "type"];
const LEAK =
  /\n\s+at |node_modules|\.(?:[cm]?[jt]s|cpp|cc|cu|hpp?):\d+|\/(?:home|root|usr|opt|tmp|var)\/\S+/;

function alwaysOf(run, sentReplacement) {
  const found = [];
  const note = (name, want, got) => found.push({ path: `always.${name}`, op: "is", want, got });
  if (run.error && !run.aborted) note("answered", "a whole answer", run.error);
  if (!sentReplacement && run.raw.includes(REPLACEMENT))
    note("no_replacement_character", "no U+FFFD", "U+FFFD");
  if (!isApiError(run)) return found;
  const keys = Object.keys(run.body?.error ?? {});
  if (!ERROR_KEYS.every((key) => keys.includes(key)))
    note("error_keys", `error {${ERROR_KEYS}}`, brief(run.raw));
  if (LEAK.test(run.body?.error?.message ?? run.raw))
    note("no_leak", "no stack and no file path", brief(run.raw));
  return found;
}

const isApiError = ({ status, route, method }) =>
  status >= 400 && route.startsWith("/v1/") && ["post", "get"].includes(method);

/** Each kind of breach once, from the first answer that shows it. */
export function checkAlways(runs, sentReplacement) {
  const first = new Map();
  for (const breach of runs.flatMap((run) => alwaysOf(run, sentReplacement))) {
    if (!first.has(breach.path)) first.set(breach.path, breach);
  }
  return [...first.values()];
}
