/**
 * What is measured: rows by model, each with how its engines are opened and, as token ids, what they
 * do. `kind` names how it is measured (rows/measure-row.mjs); `isMain` puts it into a quick run.
 */

const PREFILL_TOKENS = 512;
const DECODE_TOKENS = 64;
/** Deep rows decode less: depth should stay what the row's name says. */
const DEEP_DECODE_TOKENS = 32;
/** Ids of ordinary words in every vocabulary of use; the special tokens lie outside. */
const FIRST_ID = 100;
const NUM_IDS = 4096;

/** Token ids without a pattern; another `sequence`, others. */
export function prompt(length, sequence) {
  return Array.from(
    { length },
    (_, i) => FIRST_ID + (((i + 1) * 7919 + (sequence + 1) * 1543) % NUM_IDS),
  );
}

const prompts = (count, length) => Array.from({ length: count }, (_, i) => prompt(length, i));

/** A prompt of 512 tokens and the first token of its answer; the rate is of prompt tokens. */
function prefill(model, threads, isMain) {
  const run = { method: "generate", prompts: prompts(1, PREFILL_TOKENS), outputTokens: 1 };
  return {
    id: `prefill/${model}/t${threads}`,
    kind: "rate",
    open: { threads, sequences: 1, contextTokens: 2 * PREFILL_TOKENS },
    run,
    warmUp: { ...run, prompts: prompts(1, 64) },
    ratedTokens: PREFILL_TOKENS,
    hasInt8: true,
    isMain,
  };
}

/** 64 tokens after a prompt of one, so at depths 1 to 64; the rate is of all sequences together. */
function decode(model, threads, sequences, isMain) {
  const run = { method: "generate", prompts: prompts(sequences, 1), outputTokens: DECODE_TOKENS };
  return {
    id: `decode/${model}/t${threads}/s${sequences}`,
    kind: "rate",
    open: { threads, sequences, contextTokens: 4 * DECODE_TOKENS },
    run,
    warmUp: { ...run, outputTokens: 8 },
    ratedTokens: DECODE_TOKENS * sequences,
    hasInt8: sequences === 1 || sequences === 16,
    isMain,
  };
}

/** Tokens behind prompts of `depth` tokens, all different, that were computed before. */
function decodeAtDepth(model, threads, sequences, depth) {
  const run = { method: "decode", token: FIRST_ID, outputTokens: DEEP_DECODE_TOKENS };
  return {
    id: `decode/${model}/t${threads}/s${sequences}/d${depth}`,
    kind: "rate",
    open: { threads, sequences, contextTokens: depth + 2 * DEEP_DECODE_TOKENS },
    kept: prompts(sequences, depth),
    run,
    warmUp: { ...run, outputTokens: 4 },
    ratedTokens: DEEP_DECODE_TOKENS * sequences,
    hasInt8: false,
    isMain: false,
  };
}

/** Four tokens in one pass with all logits, as speculative decoding checks its guesses. */
function verify(model, threads, isMain) {
  return {
    id: `verify/${model}/t${threads}`,
    kind: "verify",
    open: { threads, sequences: 1, contextTokens: 512 },
    kept: prompts(1, 64),
    token: FIRST_ID,
    width: 4,
    passes: 16,
    isMain,
  };
}

/** Four prompts of 820 tokens that share the first 800. */
function sharedPrefix(model, threads) {
  const shared = prompt(800, 0);
  const ends = prompts(4, 20);
  return {
    id: `shared-prefix/${model}`,
    kind: "shared-prefix",
    open: { threads, sequences: 4, contextTokens: 1024, prefixCache: true },
    run: { method: "countComputed", prompts: ends.map((end) => [...shared, ...end]) },
    isMain: true,
  };
}

/** One thread; a short prompt, so that the start is what takes the time. */
function start(model, isMain) {
  return {
    id: `start/${model}/t1`,
    kind: "start",
    open: { threads: 1, sequences: 1, contextTokens: 512 },
    run: { method: "generate", prompts: prompts(1, 8), outputTokens: 1 },
    isMain,
  };
}

/** With as small a KV cache as there can be. */
function weights(model, isMain) {
  return {
    id: `weights/${model}`,
    kind: "weights",
    open: { threads: 1, sequences: 1, contextTokens: 64, kvMemoryBytes: 8 * 2 ** 20 },
    isMain,
  };
}

function busyCore(model, threads) {
  return {
    id: `busy-core/${model}/t${threads}`,
    kind: "busy-core",
    open: { threads, sequences: 1, contextTokens: 4 * DECODE_TOKENS },
    run: { method: "generate", prompts: prompts(1, 1), outputTokens: DECODE_TOKENS },
    isMain: true,
  };
}

/** Four chats beside enough long prompts for the time they take, with the server's step budget. */
function gaps(model, threads) {
  return {
    id: `gaps/${model}/t${threads}`,
    kind: "gaps",
    open: { threads, sequences: 12, contextTokens: 1024, batchTokens: 128 },
    run: {
      method: "measureGaps",
      prompts: prompts(8, PREFILL_TOKENS),
      chats: prompts(12, 16).slice(8),
      outputTokens: 32,
    },
    isMain: false,
  };
}

function smollm2Rows(model, threads) {
  const isFirst = threads === 1;
  return [
    prefill(model, threads, true),
    decode(model, threads, 1, true),
    decode(model, threads, 4, false),
    decode(model, threads, 8, false),
    decode(model, threads, 16, isFirst),
    verify(model, threads, isFirst),
    decodeAtDepth(model, threads, 8, 512),
    decodeAtDepth(model, threads, 16, 512),
    decodeAtDepth(model, threads, 1, 4096),
  ];
}

function gemmaRows(model, threads) {
  const isFirst = threads === 1;
  return [
    prefill(model, threads, isFirst),
    decode(model, threads, 1, isFirst),
    decode(model, threads, 8, false),
    decode(model, threads, 16, false),
  ];
}

const otherRows = (model, threads) => [
  prefill(model, threads, false),
  decode(model, threads, 1, false),
  decode(model, threads, 8, false),
];

/** Whether an id starts so; a number in it counts whole: `t1/s1` is no prefix of `t1/s16`. */
export function hasPrefix(id, prefix) {
  return id.startsWith(prefix) && !/\d\d/.test(prefix.slice(-1) + id.charAt(prefix.length));
}

/** Rows that do not exist once for each number of threads. */
function singleRows(model, threads) {
  const isDefault = model.startsWith("smollm2-");
  const isReal = isDefault || model.startsWith("gemma-");
  return [
    ...(isDefault ? [sharedPrefix(model, threads), gaps(model, threads)] : []),
    ...(isDefault && threads > 1 ? [busyCore(model, threads)] : []),
    ...(isReal ? [start(model, isDefault)] : []),
    weights(model, isDefault),
  ];
}

function threadRows(model, threads) {
  if (model.startsWith("smollm2-")) return smollm2Rows(model, threads);
  return model.startsWith("gemma-") ? gemmaRows(model, threads) : otherRows(model, threads);
}

/** Rows of one model; `model` is the short name in the ids. */
export function planOf(model, threadCounts) {
  return [
    ...threadCounts.flatMap((threads) => threadRows(model, threads)),
    ...singleRows(model, Math.max(...threadCounts)),
  ];
}
