/** How far logits are from golden ones, in the measures of the fixtures' tolerances. */

export interface LogitDifference {
  readonly maxAbs: number;
  /** Rms of the difference over the golden values' deviation. */
  readonly relRms: number;
  /** The same for each position; its median over them. */
  readonly medianPositionRelRms: number;
  /** Kullback-Leibler divergence of a position's distribution from the golden one, mean of all. */
  readonly meanKl: number;
}

/** Both [positions, vocab]. */
export function compareLogits(
  ours: Float32Array,
  golden: Float32Array,
  vocab: number,
): LogitDifference {
  const positions = Array.from({ length: golden.length / vocab }, (_, i) => {
    const rows = [ours, golden].map((all) => all.subarray(i * vocab, (i + 1) * vocab));
    return rows as [Float32Array, Float32Array];
  });
  const relRms = positions.map(([our, want]) => rms(difference(our, want)) / deviation(want));
  const kl = positions.map(([our, want]) => divergence(our, want));
  const all = difference(ours, golden);
  return {
    maxAbs: all.reduce((max, x) => Math.max(max, Math.abs(x)), 0),
    relRms: rms(all) / deviation(golden),
    medianPositionRelRms: relRms.sort((a, b) => a - b)[relRms.length >> 1] as number,
    meanKl: kl.reduce((sum, x) => sum + x, 0) / kl.length,
  };
}

function difference(a: Float32Array, b: Float32Array): Float64Array {
  return Float64Array.from(a, (x, i) => x - (b[i] as number));
}

function rms(values: Float64Array): number {
  return Math.sqrt(values.reduce((sum, x) => sum + x * x, 0) / values.length);
}

function deviation(values: Float32Array): number {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  return rms(Float64Array.from(values, (x) => x - mean));
}

function divergence(ours: Float32Array, golden: Float32Array): number {
  const [q, p] = [logProbabilities(ours), logProbabilities(golden)];
  return p.reduce((sum, logP, i) => sum + Math.exp(logP) * (logP - (q[i] as number)), 0);
}

function logProbabilities(logits: Float32Array): Float64Array {
  const max = logits.reduce((a, b) => Math.max(a, b));
  const sum = logits.reduce((total, x) => total + Math.exp(x - max), 0);
  return Float64Array.from(logits, (x) => x - max - Math.log(sum));
}
