import { Scalar } from './exposure-sums.ts';
import type { ExposureSums } from './exposure-sums.ts';

/**
 * Steps 3 to 5 of PRAV on one set of users. Arrays have one entry per channel, paid-only figures are 0 for baselines.
 */
export interface Estimate {
  readonly y0: number;
  readonly v0: number;
  readonly kappa: number;
  readonly averageOrderValue: number;
  readonly lift: Float64Array;
  readonly pull: Float64Array;
  readonly effect: Float64Array;
  /** τ·N·order value, signed */
  readonly signedRevenue: Float64Array;
  /** max(0, τ)·N, scaled down where the sum passes the conversions that a touch preceded */
  readonly incrementalConversions: Float64Array;
  readonly incrementalRevenue: Float64Array;
}

/** What an estimate is told besides the sums that it reads. */
export interface Setting {
  readonly isBaseline: Uint8Array;
  /** touches and conversions stand for this many times themselves (jackknife replicates: G / (G − 1)) */
  readonly scale: number;
  /** used where the placebos of this set show no pull on unpaid visits */
  readonly fallbackKappa: number | null;
}

/** The estimate on the users of the cells that `belongs` selects. */
export type EstimateOn = (belongs: (cell: number) => boolean, setting: Setting) => Estimate | null;

/** κ of these users: lift per unit of pull on the placebo channels; null where they show no pull. */
function placeboRate(
  sums: ExposureSums,
  isBaseline: Uint8Array,
  lift: Float64Array,
  pull: Float64Array,
): number | null {
  let liftOfPlacebos = 0;
  let pullOfPlacebos = 0;
  for (let b = 0; b < lift.length; b++) {
    if (isBaseline[b] !== 1) continue;
    liftOfPlacebos += sums.exposures[b]! * lift[b]!;
    pullOfPlacebos += sums.exposures[b]! * pull[b]!;
  }
  return pullOfPlacebos > 0 ? Math.max(0, liftOfPlacebos / pullOfPlacebos) : null;
}

/** Effect per touch at a given κ: D − κ·max(S, 0). */
export const effectAt = (kappa: number, lift: number, pull: number): number => lift - kappa * Math.max(pull, 0);

/**
 * max(0, τ)·N per paid channel, scaled down where the sum passes the conversions that a touch preceded. `offset` is the
 * part of the effects below 0 whose sum is taken off those above it, in proportion: what noise pushes below 0 is
 * missing above it.
 */
export function incrementalAt(
  kappa: number,
  sums: ExposureSums,
  estimate: Pick<Estimate, 'lift' | 'pull'>,
  { isBaseline, scale }: Setting,
  offset = 0,
): Float64Array {
  const signed = estimate.lift.map((lift, c) =>
    isBaseline[c] === 1 ? 0 : effectAt(kappa, lift, estimate.pull[c]!) * sums.touches[c]! * scale,
  );
  const conversions = signed.map((part) => Math.max(0, part));
  const total = conversions.reduce((sum, part) => sum + part, 0);
  const below = offset === 0 ? 0 : offset * signed.reduce((sum, part) => sum + Math.max(0, -part), 0);
  const most = Math.min(Math.max(0, total - below), sums.scalars[Scalar.touchedConversions]! * scale);
  return total > most ? conversions.map((part) => (part / total) * most) : conversions;
}

/** Their revenue at the average order value, scaled down where the sum passes the revenue that a touch preceded. */
export function revenueOf(
  conversions: Float64Array,
  averageOrderValue: number,
  sums: ExposureSums,
  scale: number,
): Float64Array {
  const total = averageOrderValue * conversions.reduce((sum, part) => sum + part, 0);
  const most = Math.max(0, sums.scalars[Scalar.touchedRevenue]! * scale);
  return conversions.map((part) => part * averageOrderValue * (total > most ? most / total : 1));
}

/** null where there is no person-time, no conversion, or no κ to be had. */
export function adjustByPlacebos(sums: ExposureSums, setting: Setting): Estimate | null {
  const { isBaseline, scale, fallbackKappa } = setting;
  const personTime = sums.scalars[Scalar.personTime]!;
  const orders = sums.scalars[Scalar.conversions]!;
  if (personTime === 0 || orders === 0) return null;
  const y0 = sums.scalars[Scalar.conversionTime]! / personTime;
  const v0 = sums.scalars[Scalar.visitTime]! / personTime;
  const lift = sums.exposures.map((n, c) => (n === 0 ? 0 : sums.conversionsAfter[c]! / n - y0));
  const pull = sums.exposures.map((n, c) => (n === 0 ? 0 : sums.visitsAfter[c]! / n - v0));
  const kappa = placeboRate(sums, isBaseline, lift, pull) ?? fallbackKappa;
  if (kappa === null) return null;
  // Refunds beyond sales leave nothing to be incremental.
  const averageOrderValue = Math.max(0, sums.scalars[Scalar.revenue]! / orders);
  const effect = lift.map((d, c) => (isBaseline[c] === 1 ? 0 : effectAt(kappa, d, pull[c]!)));
  const incrementalConversions = incrementalAt(kappa, sums, { lift, pull }, setting);
  return {
    y0,
    v0,
    kappa,
    averageOrderValue,
    lift,
    pull,
    effect,
    signedRevenue: effect.map((tau, c) => tau * sums.touches[c]! * scale * averageOrderValue),
    incrementalConversions,
    incrementalRevenue: revenueOf(incrementalConversions, averageOrderValue, sums, scale),
  };
}
