import { KAPPA_ERROR } from './identification.ts';
import type { Estimate } from './placebo-adjustment.ts';

/** In errors: of a total below the first nothing is claimed, of one beyond the second everything (decision 031). */
const NOTHING_BELOW = 0.5;
const ALL_FROM = 1;

/**
 * The part, 0 to 1, of the joint estimate's total that is claimed. Where nothing works, what is left of the lifts is
 * the error of κ, which pushes all channels the same way; so a total that κ could make by being off by KAPPA_ERROR of
 * itself is not claimed whole. Noise, which pushes some up and others down, cancels in the total and is the intervals'
 * to tell.
 */
export function claimedPart(
  { incrementalRevenue, kappa, pull }: Pick<Estimate, 'incrementalRevenue' | 'kappa' | 'pull'>,
  revenuePerEffect: Float64Array,
  isBaseline: Uint8Array,
): number {
  const ofPaid = (of: (channel: number) => number): number =>
    isBaseline.reduce((sum, baseline, c) => (baseline === 1 ? sum : sum + of(c)), 0);
  const error = KAPPA_ERROR * ofPaid((c) => kappa * Math.max(0, pull[c]!) * revenuePerEffect[c]!);
  const total = ofPaid((c) => incrementalRevenue[c]!);
  if (total === 0 || error === 0) return 1;
  return Math.min(1, Math.max(0, (total / error - NOTHING_BELOW) / (ALL_FROM - NOTHING_BELOW)));
}
