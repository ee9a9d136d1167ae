/**
 * What the project wants of each row: [ids, target without AMX, target with AMX]. A rate's target is a
 * ratio to the peer. Those without AMX are meant for AVX-512 VNNI, and what AVX2 is measured by as well.
 */
const RATIOS = [
  [/^prefill\/smollm2-q4_1\/t\d$/, 6, 2.3],
  [/^prefill\/llama1b-q4_0\/t\d$/, 1.8, 2],
  [/^prefill\/llama1b-q8_0\/t\d$/, 2.5, 2],
  [/^prefill\/llama1b-q4_k_m\/t\d$/, 2.2, 2],
  [/^prefill\/gemma-q4_k_m\/t\d$/, 4, 4],
  [/^decode\/smollm2-q4_1\/t1\/s1$/, 1.8, 1.8],
  [/^decode\/smollm2-q4_1\/t2\/s1$/, 2.5, 2],
  [/^decode\/gemma-q4_k_m\/t1\/s1$/, 1.8, 1.8],
  [/^decode\/gemma-q4_k_m\/t2\/s1$/, 2, 2],
  [/^decode\/smollm2-q4_1\/t\d\/s8$/, 5, 4],
  [/^decode\/smollm2-q4_1\/t1\/s16$/, 7, 4.5],
  [/^decode\/smollm2-q4_1\/t2\/s16$/, 7, 6],
  [/^decode\/smollm2-q4_1\/t\d\/s8\/d512$/, 3.5, 3.5],
  [/^decode\/smollm2-q4_1\/t\d\/s16\/d512$/, 4.5, 4.5],
  [/^decode\/gemma-q4_k_m\/t\d\/s8$/, 5, 5],
  [/^decode\/gemma-q4_k_m\/t\d\/s16$/, 7, 7],
  [/^decode\/smollm2-q4_1\/t\d\/s1\/d4096$/, 2.5, 2.5],
  [/^verify\/smollm2-q4_1\/t\d$/, 1.4, 1.3],
];

/** Targets of any machine, all of them upper bounds. */
const BOUNDS = [
  [/^shared-prefix\//, 880],
  [/^start\//, 0.5],
  // One of the two threads' cores belongs to somebody else.
  [/^busy-core\/[^/]+\/t2$/, 2],
  [/^weights\/[^/]+-q(4_0|4_1|8_0)$/, 1.1],
  [/^weights\/llama1b-q4_k_m$/, 1.35],
  // Most of their matrices are Q5_0.
  [/^weights\/(gemma|qwen0\.5b)-q4_k_m$/, 1.6],
];

/** Undefined for a row without a target; `kind` as of machineKind. */
export function targetOf(id, kind) {
  const bound = BOUNDS.find(([ids]) => ids.test(id));
  if (bound !== undefined) return bound[1];
  const [, withoutAmx, withAmx] = RATIOS.find(([ids]) => ids.test(id)) ?? [];
  return kind === "amx" ? withAmx : withoutAmx;
}
