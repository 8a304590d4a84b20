import { jackknifeError } from '../../numerics/jackknife.ts';
import { KAPPA_ERROR } from './identification.ts';
import type { JointEstimate } from './joint-adjustment.ts';

/** In standard errors: a total below the first could be nothing at all, one beyond the second is claimed whole. */
const NOTHING_BELOW = 0.5;
const ALL_FROM = 1;

/** The part, 0 to 1, of a total that is claimed, by how many standard errors it is. */
export function partByErrors(errors: number): number {
  return Math.min(1, Math.max(0, (errors - NOTHING_BELOW) / (ALL_FROM - NOTHING_BELOW)));
}

/**
 * The part, 0 to 1, of the joint estimate's total that is claimed. Where nothing works, what is left after κ is the error of κ, which pushes all
 * channels the same way; so a total that its own error could make (sampling, and κ off by KAPPA_ERROR of itself) is not claimed whole.
 * @param signed delete-a-group replicates of the signed revenue, groups × K
 */
export function claimedPart({ incrementalRevenue, kappa, pull }: JointEstimate, revenuePerEffect: Float64Array, signed: Float64Array, groups: number, isBaseline: Uint8Array): number {
  const channels = isBaseline.length;
  const ofPaid = (of: (channel: number) => number): number => isBaseline.reduce((sum, baseline, c) => (baseline === 1 ? sum : sum + of(c)), 0);
  const totals = Float64Array.from({ length: groups }, (_, group) => ofPaid((c) => signed[group * channels + c]!));
  const priced = ofPaid((c) => kappa * Math.max(0, pull[c]!) * revenuePerEffect[c]!);
  const error = Math.hypot(jackknifeError(totals, groups), KAPPA_ERROR * priced);
  const total = ofPaid((c) => incrementalRevenue[c]!);
  return error > 0 ? partByErrors(total / error) : 1;
}
