/**
 * Confidence in one channel's credit, 0 … 1: 1 / (1 + width/T + 2·sd), with the width of its interval, the credited total T and
 * the population standard deviation of its share over the models that can be compared (Markov, Shapley, PRAV). 0 where T is not
 * positive: there is nothing to be sure of.
 */
export function creditConfidence(width: number, total: number, shares: readonly number[]): number {
  if (!(total > 0)) return 0;
  const mean = shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);
  const variance = shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / Math.max(1, shares.length);
  return 1 / (1 + width / total + 2 * Math.sqrt(variance));
}
