/** What is measured: prompts as token ids, the same for both engines. */

const PREFILL_TOKENS = 512;
const DECODE_TOKENS = 64;
/** Ids of ordinary words in every vocabulary of use; the special tokens lie outside. */
const FIRST_ID = 100;
const NUM_IDS = 4096;

/** Shares of the peer's speed that the project has promised so far. */
const TARGET = 0.7;

function prompt(length, sequence) {
  return Array.from(
    { length },
    (_, i) => FIRST_ID + (((i + 1) * 7919 + (sequence + 1) * 1543) % NUM_IDS),
  );
}

/** A prompt of 512 tokens and the first token of its answer; the rate is of prompt tokens. */
function prefill(model, threads) {
  return {
    id: `prefill/${model}/t${threads}`,
    open: { threads, sequences: 1, contextTokens: 2 * PREFILL_TOKENS },
    run: { prompts: [prompt(PREFILL_TOKENS, 0)], outputTokens: 1 },
    ratedTokens: PREFILL_TOKENS,
    target: TARGET,
  };
}

/** 64 tokens after a prompt of one, so at depths 1 to 64; the rate is of all sequences together. */
function decode(model, threads, sequences) {
  return {
    id: `decode/${model}/t${threads}/s${sequences}`,
    open: { threads, sequences, contextTokens: 4 * DECODE_TOKENS },
    run: {
      prompts: Array.from({ length: sequences }, (_, sequence) => prompt(1, sequence)),
      outputTokens: DECODE_TOKENS,
    },
    ratedTokens: DECODE_TOKENS * sequences,
    target: sequences === 1 ? TARGET : undefined,
  };
}

export function workloads(model, threadCounts) {
  return threadCounts.flatMap((threads) => [
    prefill(model, threads),
    ...[1, 4, 8].map((sequences) => decode(model, threads, sequences)),
  ]);
}
