/** Buckets from one to the next grow by this factor: a quantile is told at most so much too high. */
const GROWTH = 2 ** (1 / 4);
/** Upper bound of the last bucket that has one, about half an hour; whatever takes longer stands behind it. */
const LONGEST_MS = 2 ** 21;
/** Upper bounds in milliseconds, from 1 up. */
const BOUNDS_MS: readonly number[] = Array.from(
  { length: Math.round(Math.log(LONGEST_MS) / Math.log(GROWTH)) + 1 },
  (_, place) => GROWTH ** place,
);

/** How many there are; released counts rest on it. */
export const LATENCY_BUCKETS = BOUNDS_MS.length + 1;

/** The bucket of a call, counted from 0. */
export function latencyBucket(elapsedMs: number): number {
  if (elapsedMs <= 1) return 0;
  // A bound belongs to the bucket below it, which logarithms miss by a hair.
  return Math.min(BOUNDS_MS.length, Math.ceil(Math.log(elapsedMs) / Math.log(GROWTH) - 1e-9));
}

/**
 * What so large a share of the calls did not take longer than: the upper bound of the bucket in which the call of that
 * rank lies, in whole milliseconds. Null without calls.
 */
export function latencyQuantile(counts: readonly number[], share: number): number | null {
  const calls = counts.reduce((sum, count) => sum + count, 0);
  if (calls === 0) return null;
  const rank = Math.ceil(share * calls);
  let passed = 0;
  const bucket = counts.findIndex((count) => (passed += count) >= rank);
  return Math.ceil(BOUNDS_MS[bucket] ?? LONGEST_MS);
}
