/** From measured runs to rows of the result file, and what is wanted of them. */
import { judged, median, rounded, summary } from "../results.mjs";

const BASELINE = "http-stateless";

/** Of one run of a task. */
const METRICS = {
  "sent-bytes": { unit: "bytes", of: ({ sentBytes }) => sentBytes },
  "received-bytes": { unit: "bytes", of: ({ receivedBytes }) => receivedBytes },
  ttft: { unit: "ms", of: ({ turns }) => median(turns.map((turn) => turn.ttftMs)) },
  total: { unit: "ms", of: ({ totalMs }) => totalMs },
  "gateway-cpu": { unit: "ms a turn", of: ({ cpu, turns }) => cpu && cpu.mainMs / turns.length },
  "server-cpu": { unit: "s", of: ({ cpu }) => cpu && cpu.allMs / 1000 },
  "computed-tokens": { unit: "tokens", of: ({ turns }) => sumOf(turns, computedTokens) },
  reconnects: { unit: "sockets", of: ({ reconnects }) => reconnects },
};

/** Of the same round's stateless run. */
const RATIOS = ["sent-bytes", "total"];

const TARGETS = {
  "loop/fix-test-10/websocket/sent-bytes-of-stateless": 0.2,
  "loop/refactor-40/websocket/sent-bytes-of-stateless": 0.05,
  "loop/refactor-40/websocket/total-of-stateless": 0.6,
  "light/refactor-40/websocket/total-of-stateless": 0.6,
};

/**
 * Of one task in one place.
 * @param ids `place` and `task` by name
 * @param {Record<string, object[]>} runs one a round, by mode
 */
export function rowsOf({ place, task }, runs) {
  const modeRows = Object.entries(runs).flatMap(([mode, ofMode]) => [
    ...metricRows(`${place}/${task}/${mode}`, ofMode),
    ...ratioRows(
      `${place}/${task}/${mode}`,
      ofMode,
      mode === BASELINE ? undefined : runs[BASELINE],
    ),
  ]);
  return modeRows.map((row) => judged(row, TARGETS[row.id]));
}

function metricRows(prefix, runs) {
  return Object.entries(METRICS).flatMap(([name, { unit, of }]) => {
    const samples = runs.map(of);
    if (samples.includes(undefined)) return [];
    const row = { id: `${prefix}/${name}`, unit, ours: summary(samples) };
    return [name === "ttft" ? { ...row, byTurn: ttftByTurn(runs) } : row];
  });
}

function ratioRows(prefix, runs, baseline) {
  if (baseline === undefined) return [];
  return RATIOS.map((name) => {
    const { of } = METRICS[name];
    const ratios = runs.map((run, round) => of(run) / of(baseline[round]));
    return { id: `${prefix}/${name}-of-stateless`, unit: "x of 1", ours: summary(ratios) };
  });
}

/** Medians of the rounds, one a turn. */
function ttftByTurn(runs) {
  return runs[0].turns.map((_, turn) =>
    rounded(median(runs.map(({ turns }) => turns[turn].ttftMs))),
  );
}

/** Turns whose text and token counts are the same in all modes of a round; all of them should be. */
export function sameTurnsRow({ place, task }, runs) {
  const modes = Object.values(runs);
  const numTurns = modes[0][0].turns.length;
  const counts = modes[0].map(
    (_, round) => numTurns - differingTurns(modes.map((rounds) => rounds[round])).length,
  );
  return judged(
    { id: `${place}/${task}/same-turns`, unit: "turns", ours: summary(counts) },
    numTurns,
  );
}

/** Indices of turns in which not all runs have the same prompt length, output length and text. */
export function differingTurns(runs) {
  const [first, ...others] = runs.map(({ turns }) => turns.map(outcomeOf));
  return first.flatMap((outcome, turn) =>
    others.every((other) => other[turn] === outcome) ? [] : [turn],
  );
}

const outcomeOf = ({ text, usage }) =>
  JSON.stringify([text, usage.input_tokens, usage.output_tokens]);

/** Prefilled and generated: what no cache had. */
function computedTokens({ usage }) {
  const { input_tokens, output_tokens, input_tokens_details } = usage;
  return input_tokens - (input_tokens_details?.cached_tokens ?? 0) + output_tokens;
}

const sumOf = (list, value) => list.reduce((sum, one) => sum + value(one), 0);
