/** Numbers and words of Python and of JSON, in JSON. */

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const LOOSE_NUMBER = /^[-+]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?$/;
const WORDS: ReadonlyMap<string, string> = new Map([
  ["True", "true"],
  ["False", "false"],
  ["None", "null"],
  ["true", "true"],
  ["false", "false"],
  ["null", "null"],
]);

/** True, False, None and their names in JSON; undefined: another word. */
export function wordAsJson(text: string): string | undefined {
  return WORDS.get(text);
}

/** undefined: neither a word nor a number. */
export function scalarAsJson(text: string): string | undefined {
  const word = wordAsJson(text);
  if (word !== undefined) return word;
  if (JSON_NUMBER.test(text)) return text;
  if (!LOOSE_NUMBER.test(text)) return undefined;
  const number = Number(text.replaceAll("_", ""));
  return Number.isFinite(number) ? JSON.stringify(number) : undefined;
}
