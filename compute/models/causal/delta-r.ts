import { jackknifeError } from '../../numerics/jackknife.ts';
import { normalBelow, twoSidedZ } from '../../numerics/normal-quantile.ts';
import type { DeltaR } from './causal-result.ts';
import type { CreditSetting } from './incremental-credit.ts';

/**
 * Revenue in cents that last click hid from the channels it under-credits: credit − last click over the paid channels
 * that earned more than it gave them.
 */
export function recovered(credit: Float64Array, lastClick: Float64Array, isBaseline: Uint8Array): number {
  let sum = 0;
  for (let c = 0; c < credit.length; c++)
    if (isBaseline[c] !== 1 && credit[c]! > 0) sum += Math.max(0, credit[c]! - lastClick[c]!);
  return sum;
}

/** What is known of how far the credit is off. Columns of channels; `replicates` groups × K, row-major. */
export interface CreditDoubt {
  readonly replicates: Float64Array;
  readonly groups: number;
  /** the credit at the ends of what identification leaves open to all channels together */
  readonly ends: readonly Float64Array[];
  /** published intervals */
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/**
 * Interval of Delta_R, which is a sum of positive parts. Two kinds of error: what moves all channels together, κ, by
 * its ends; and what a channel's interval holds beyond sampling, which is its own (an unknown mechanism above all),
 * independent of the others'. Of a normal difference its positive part has the mean and variance of a rectified
 * Gaussian; these add up over the channels, and sampling error of the sum beside them.
 */
export function deltaRInterval(
  { replicates, groups, ends, low, high }: CreditDoubt,
  lastClick: Float64Array,
  { channels, confidenceLevel, isLeftOut }: CreditSetting & { readonly isLeftOut: Uint8Array },
): readonly [low: number, high: number] {
  const z = twoSidedZ(confidenceLevel);
  const deltas = Float64Array.from({ length: groups }, (_, g) =>
    recovered(replicates.subarray(g * channels, (g + 1) * channels), lastClick, isLeftOut),
  );
  let [mean, variance] = [0, jackknifeError(deltas, groups) ** 2];
  for (let c = 0; c < channels; c++) {
    if (isLeftOut[c] === 1) continue;
    const sampling = jackknifeError(replicates, groups, c, channels);
    const own = Math.sqrt(Math.max(0, ((high[c]! - low[c]!) / (2 * z)) ** 2 - sampling ** 2));
    const positive = rectified((low[c]! + high[c]!) / 2 - lastClick[c]!, own);
    mean += positive.mean;
    variance += positive.variance;
  }
  const reach = z * Math.sqrt(variance);
  const all = [mean, ...ends.map((end) => recovered(end, lastClick, isLeftOut))];
  return [Math.min(...all) - reach, Math.max(...all) + reach];
}

/** Mean and variance of max(0, X) for a normal X. */
function rectified(mean: number, deviation: number): { readonly mean: number; readonly variance: number } {
  if (!(deviation > 0)) return { mean: Math.max(0, mean), variance: 0 };
  const x = mean / deviation;
  const above = normalBelow(x);
  const density = Math.exp(-(x ** 2) / 2) / Math.sqrt(2 * Math.PI);
  const first = mean * above + deviation * density;
  const second = (mean ** 2 + deviation ** 2) * above + mean * deviation * density;
  return { mean: first, variance: Math.max(0, second - first ** 2) };
}

/**
 * Delta_R from the published cents; `low` and `high` (major units) are cut to what the revenue allows and widened to
 * contain it. `isLeftOut`: 1 = baseline, or not measurable.
 */
export function deltaROf(
  valueCents: Float64Array,
  lastClickCents: Float64Array,
  isLeftOut: Uint8Array,
  revenueCents: number,
  [low, high]: readonly [number, number],
): DeltaR {
  const deltaCents = valueCents.map((cents, c) => (isLeftOut[c] === 1 ? 0 : cents - lastClickCents[c]!));
  const underCredited = Array.from(deltaCents.keys()).filter((c) => deltaCents[c]! > 0 && valueCents[c]! > 0);
  const sumOver = (cents: Float64Array): number => underCredited.reduce((sum, c) => sum + cents[c]!, 0);
  const revenueCausalCents = sumOver(valueCents);
  const revenueLastClickCents = sumOver(lastClickCents);
  const deltaRCents = revenueCausalCents - revenueLastClickCents;
  return {
    deltaCents,
    underCredited,
    revenueCausalCents,
    revenueLastClickCents,
    deltaRCents,
    deltaRNetCents: deltaCents.reduce((sum, cents) => sum + cents, 0),
    lowCents: Math.max(0, Math.min(Math.round(low * 100), deltaRCents)),
    highCents: Math.max(Math.min(Math.round(high * 100), revenueCents), deltaRCents),
  };
}
