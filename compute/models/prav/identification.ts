import type { ExposureSums } from './exposure-sums.ts';
import type { JointEstimate } from './joint-adjustment.ts';
import { effectAt } from './placebo-adjustment.ts';
import type { Estimate } from './placebo-adjustment.ts';

/** A single placebo channel speaks for itself from this many exposures on. */
export const FEWEST_PLACEBO_EXPOSURES = 30;
/** How far the identification interval reaches beyond the κ of the single placebo channels. */
const KAPPA_MARGIN = 0.25;

/**
 * What the joint estimate leaves open beside sampling, fixed once on simulated worlds that the truth report does not
 * use, so that 95 % intervals cover the truth in 90–97 %: relative errors (one standard deviation) of κ beside half the
 * disagreement of its two sources, of each effect (kernels, wear-out and interplay that the model leaves out), and of
 * the correction for halo.
 */
export const KAPPA_ERROR = 0.25;
const EFFECT_ERROR = 0.1;
const HALO_ERROR = 0.5;

/**
 * Interval of the incremental revenue per channel, not yet widened to contain the published figure; 0 for baseline
 * channels.
 */
export interface Identification {
  readonly kappaRange: readonly [low: number, high: number];
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** the same of the signed revenue, not cut at 0 */
  readonly signedLow: Float64Array;
  readonly signedHigh: Float64Array;
}

/** The κ of each placebo channel that can speak for itself. */
export function singlePlacebos(
  sums: ExposureSums,
  { lift, pull }: Pick<Estimate, 'lift' | 'pull'>,
  isBaseline: Uint8Array,
): { channel: number; kappa: number }[] {
  return Array.from(isBaseline.keys())
    .filter((b) => isBaseline[b] === 1 && sums.exposures[b]! >= FEWEST_PLACEBO_EXPOSURES && pull[b]! > 0)
    .map((channel) => ({ channel, kappa: lift[channel]! / pull[channel]! }));
}

/**
 * Step 6: κ between 0.75 × the smallest and 1.25 × the largest of the single placebo channels, z standard errors on
 * either side.
 */
export function identifyByPlacebos(
  estimate: Estimate,
  kappas: readonly number[],
  revenuePerEffect: Float64Array,
  standardError: Float64Array,
  z: number,
): Identification {
  const single = kappas.length === 0 ? [estimate.kappa] : kappas;
  const kappaRange = [(1 - KAPPA_MARGIN) * Math.min(...single), (1 + KAPPA_MARGIN) * Math.max(...single)] as const;
  const at = (kappa: number, c: number): number =>
    effectAt(kappa, estimate.lift[c]!, estimate.pull[c]!) * revenuePerEffect[c]!;
  return {
    kappaRange,
    low: standardError.map((error, c) => Math.max(0, at(kappaRange[1], c) - z * error)),
    high: standardError.map((error, c) => Math.max(0, at(kappaRange[0], c)) + z * error),
    signedLow: standardError.map((error, c) => at(kappaRange[1], c) - z * error),
    signedHigh: standardError.map((error, c) => at(kappaRange[0], c) + z * error),
  };
}

/**
 * The joint estimate ± z standard deviations: sampling, κ, the effect and the halo correction, independent of each
 * other.
 */
export function identifyJointly(
  estimate: JointEstimate,
  halo: Float64Array,
  revenuePerEffect: Float64Array,
  standardError: Float64Array,
  z: number,
): Identification {
  const { kappa, sources, pull, signedRevenue } = estimate;
  const disagreement = sources.whole === null || sources.late === null ? kappa : sources.whole - sources.late;
  const kappaError = Math.hypot(KAPPA_ERROR * kappa, disagreement / 2);
  const reach = standardError.map(
    (error, c) =>
      z *
      Math.hypot(
        error,
        kappaError * Math.max(0, pull[c]!) * revenuePerEffect[c]!,
        EFFECT_ERROR * signedRevenue[c]!,
        HALO_ERROR * kappa * halo[c]! * revenuePerEffect[c]!,
      ),
  );
  return {
    kappaRange: [Math.max(0, kappa - z * kappaError), kappa + z * kappaError],
    low: reach.map((half, c) => Math.max(0, signedRevenue[c]! - half)),
    high: reach.map((half, c) => Math.max(0, signedRevenue[c]!) + half),
    signedLow: reach.map((half, c) => signedRevenue[c]! - half),
    signedHigh: reach.map((half, c) => signedRevenue[c]! + half),
  };
}
