/**
 * Results of the agent's tools: texts of a made-up project, as long as results were in real agent runs.
 * Every word is ours; only the lengths come from recordings.
 */

/**
 * Characters of 1,135 tool results in 35 recorded coding transcripts (mini-swe-agent and others on
 * SWE-bench): the middles of twenty equal shares, sorted. A quarter says no more than that it went well.
 */
const RECORDED_CHARS = [
  45, 45, 45, 45, 45, 69, 84, 97, 125, 163, 252, 374, 505, 622, 806, 1046, 1419, 2073, 3741, 10612,
];

/** Tools by what they usually say, least first: a patch says "done", a file is long. */
const BY_LENGTH = ["apply_patch", "run_tests", "list_files", "run_command", "search", "read_file"];

const NOUNS = ["parcel", "route", "depot", "driver", "tariff", "window", "label", "claim", "scan"];
const VERBS = ["load", "find", "count", "merge", "cancel", "assign", "confirm", "split", "expire"];

/** The lines that a tool writes; `n` counts them, `a` and `b` are a noun and a verb. */
const LINES = {
  apply_patch: [() => "The patch was applied: 1 file changed, no rejected hunks."],
  run_tests: [
    ({ a, n }) => `${n === 0 ? "Running" : "PASS"} test/${a}.test.ts`,
    ({ a, b, n }) => `  ok ${n} ${b}s the ${a} and tells the depot (${(n * 13) % 47} ms)`,
    ({ a, b, n }) => `  ok ${n} an unknown ${a} is refused when it is to ${b}`,
    ({ n }) => `${n * 3} passed, 0 failed, 0 skipped`,
  ],
  list_files: [
    ({ a }) => `src/${a}/`,
    ({ a, b }) => `src/${a}/${b}-${a}.ts`,
    ({ a, b }) => `test/${a}/${b}-${a}.test.ts`,
  ],
  run_command: [
    ({ a, b }) => `src/${a}/${b}-${a}.ts: checked, no problems`,
    ({ a, n }) => `src/${a}/index.ts(${n * 11 + 4},7): unused import of the ${a} type`,
  ],
  search: [
    ({ a, b, n }) => `src/${a}/${b}-${a}.ts:${n * 17 + 5}:  return this.#${a}s.${b}(${a}Id);`,
    ({ a, b, n }) => `src/api/${a}.ts:${n * 9 + 2}:import { ${b}${pascal(a)} } from "../${a}.ts";`,
    ({ a, n }) => `test/${a}.test.ts:${n * 5 + 8}:  const ${a} = make${pascal(a)}({ id: ${n} });`,
  ],
  read_file: [
    ({ a, b }) => `export async function ${b}${pascal(a)}(request, { ${a}s, clock }) {`,
    ({ a }) => `  const ${a} = await ${a}s.get(request.params.id);`,
    ({ a, n }) => `  if (${a} === undefined) throw new ApiError(404, "${a}_not_found", ${n});`,
    ({ a, b }) => `  const next = { ...${a}, ${b}edAt: clock.now(), version: ${a}.version + 1 };`,
    ({ a }) => `  await ${a}s.put(next);`,
    () => "  return { status: 200, body: next };",
    () => "}",
    () => "",
  ],
};

/** @param {string} tool @param {number} numChars @param {number} seed another one has other words */
export function resultText(tool, numChars, seed) {
  const lines = LINES[tool];
  let text = "";
  for (let n = 0; text.length < numChars; n++) {
    const words = {
      a: NOUNS[(seed + n) % NOUNS.length],
      b: VERBS[(seed * 5 + n * 2) % VERBS.length],
      n,
    };
    text += `${lines[n % lines.length](words)}\n`;
  }
  return text.slice(0, numChars);
}

/**
 * Characters of each result: as many of every recorded length as there are of it in the recordings,
 * cut at `maxChars` as harnesses cut them, the longest for the tools that say most.
 * @param {readonly string[]} tools in the order of the calls
 */
export function resultLengths(tools, maxChars) {
  const ranked = tools
    .map((tool, index) => ({ index, rank: BY_LENGTH.indexOf(tool) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index);
  const lengths = [];
  for (const [place, { index }] of ranked.entries()) {
    const share = (place + 0.5) / tools.length;
    const chars = RECORDED_CHARS[Math.floor(share * RECORDED_CHARS.length)];
    lengths[index] = Math.min(chars, maxChars);
  }
  return lengths;
}

function pascal(word) {
  return word[0].toUpperCase() + word.slice(1);
}
