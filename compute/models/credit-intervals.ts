import { jackknifeError } from '../numerics/jackknife.ts';
import { twoSidedT } from '../numerics/student-quantile.ts';

/** Random groups of journeys in the delete-a-group jackknife of the path models. */
export const JOURNEY_GROUPS = 50;

/**
 * How sure a path model is of its credit, its journeys taken as independent draws: what the model would credit the
 * channel with on average over shops like this one. It says nothing of whether the model is right.
 */
export interface CreditIntervals {
  /** jackknife replicates of `value` (groups × K, row-major): credit without one group, scaled to the whole */
  readonly replicates: Float64Array;
  readonly groups: number;
  /** interval of `value` at the run's confidence level; contains it */
  readonly intervalLow: Float64Array;
  readonly intervalHigh: Float64Array;
}

/** What the intervals of a run are drawn with. */
export interface Replication {
  readonly confidenceLevel: number;
  readonly seed: number;
  /** nobody asks for intervals: there are no replicates then, and what is sampled or iterated is so to fewer digits */
  readonly creditAlone?: boolean;
}

/** What stands for the intervals of a credit that was asked for alone. */
export function noIntervals(value: Float64Array): CreditIntervals {
  return { replicates: new Float64Array(0), groups: 0, intervalLow: value, intervalHigh: value };
}

/**
 * Student intervals around `value` with the jackknife error of its replicates. `extraError`: standard error of the
 * method itself (sampled orderings), where it has one. Credit that cannot be negative has no negative end.
 */
export function creditIntervals(
  value: Float64Array,
  replicates: Float64Array,
  groups: number,
  { confidenceLevel }: Replication,
  extraError?: Float64Array,
): CreditIntervals {
  const t = twoSidedT(confidenceLevel, groups - 1);
  const halfWidth = value.map(
    (_, c) => t * Math.hypot(jackknifeError(replicates, groups, c, value.length), extraError?.[c] ?? 0),
  );
  return {
    replicates,
    groups,
    intervalLow: value.map((amount, c) => (amount >= 0 ? Math.max(0, amount - halfWidth[c]!) : amount - halfWidth[c]!)),
    intervalHigh: value.map((amount, c) => amount + halfWidth[c]!),
  };
}

/**
 * Turns sums per group (groups × width) into the sums without that group, scaled to the whole, in place:
 * total − (group − mean group)·G/(G − 1).
 */
export function deleteEachGroup(sums: Float64Array, groups: number, total: Float64Array): Float64Array {
  const width = total.length;
  for (let i = 0; i < width; i++) {
    let mean = 0;
    for (let g = 0; g < groups; g++) mean += sums[g * width + i]!;
    mean /= groups;
    for (let g = 0; g < groups; g++)
      sums[g * width + i] = total[i]! - ((sums[g * width + i]! - mean) * groups) / (groups - 1);
  }
  return sums;
}
