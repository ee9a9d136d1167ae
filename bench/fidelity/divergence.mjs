/** How far apart two engines' distributions of the next token are, from their logits. */

/** log(sum(exp(logits))) in double precision. */
function logSumExp(logits) {
  let max = -Infinity;
  for (const logit of logits) if (logit > max) max = logit;
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - max);
  return max + Math.log(sum);
}

/** The first index of the largest logit. */
export function mostLikely(logits) {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i;
  return best;
}

/** KL(P || Q) in nats, of the distributions that two rows of logits stand for. */
export function divergence(reference, logits) {
  const [norm, otherNorm] = [logSumExp(reference), logSumExp(logits)];
  let sum = 0;
  for (let i = 0; i < reference.length; i++) {
    const logP = reference[i] - norm;
    sum += Math.exp(logP) * (logP - (logits[i] - otherNorm));
  }
  return sum;
}

/** {kl, isSameTop} of every row; both are [rows, vocab] end to end. */
export function compareRows(reference, logits, vocab) {
  return Array.from({ length: reference.length / vocab }, (_, row) => {
    const [p, q] = [reference, logits].map((all) => all.subarray(row * vocab, (row + 1) * vocab));
    return { kl: divergence(p, q), isSameTop: mostLikely(p) === mostLikely(q) };
  });
}
