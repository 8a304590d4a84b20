import { twoSidedZ } from '../../numerics/normal-quantile.ts';
import { sumOf } from '../credits.ts';
import { fitInto } from './calibration.ts';
import type { CreditSetting, IncrementalCredit } from './incremental-credit.ts';

/**
 * What a unit of spend brings before anything is known of a channel: incremental revenue per unit, log-normal with
 * these parameters, the default prior of Google's Meridian on a channel's return (its documentation, "Default prior
 * distributions"). Taken as published, not fitted to any shop (decision 039).
 */
const LOG_RETURN = { mean: 0.2, deviation: 0.9 } as const;

/** The median, 1.22: the mean (1.83) is that of the few channels that bring many times their cost. */
export const USUAL_RETURN = Math.exp(LOG_RETURN.mean);

/** Standard deviation of that distribution, 2.05. */
export const RETURN_DEVIATION =
  Math.sqrt(Math.expm1(LOG_RETURN.deviation ** 2)) * Math.exp(LOG_RETURN.mean + LOG_RETURN.deviation ** 2 / 2);

/** What the spend of the range says beside the rows. */
export interface SpendPrior {
  /** per channel, major units; 0 where it is unknown */
  readonly spend: Float64Array;
  /** per channel: 1 = a journey that led to an order holds it; spend alone is no evidence of a sale */
  readonly isOnJourney: Uint8Array;
}

/** The credit after the prior, and how much of it the prior made. */
export interface LeanedCredit {
  readonly credit: IncrementalCredit;
  /** per channel in [0, 1]: 0 where the rows alone speak, 1 where the prior does */
  readonly spendWeight: Float64Array;
}

/**
 * Draws each channel's credit towards what its spend would usually bring, by precision weighting (normal prior and
 * likelihood): weight σ² / (σ² + τ²), with σ the standard deviation that the credit's interval stands for and τ that of
 * the prior, both in money. The interval keeps its place and width, so that it says what the rows say; it is widened to
 * hold the credit by whoever publishes it. Replicates and ends shift along, hence intervals of sums stay as wide as
 * they were. Channels without spend or orders, those that are known exactly, and those whose whole interval lies below
 * 0, stay as they are: of harm the prior knows nothing.
 */
export function leanOnSpend(
  credit: IncrementalCredit,
  { spend, isOnJourney }: SpendPrior,
  { channels, isBaseline, confidenceLevel, mostRevenue, mostConversions }: CreditSetting,
): LeanedCredit {
  const { value } = credit;
  const z = twoSidedZ(confidenceLevel);
  const deviation = value.map(
    (amount, c) => (Math.max(credit.high[c]!, amount) - Math.min(credit.low[c]!, amount)) / (2 * z),
  );
  const spendWeight = deviation.map((own, c) => {
    if (isBaseline[c] === 1 || isOnJourney[c] !== 1 || !(spend[c]! > 0) || !(own > 0) || value[c]! < 0) return 0;
    return 1 / (1 + ((RETURN_DEVIATION * spend[c]!) / own) ** 2);
  });
  if (spendWeight.every((weight) => weight === 0)) return { credit, spendWeight };
  const isHarmful = (c: number): boolean => value[c]! < 0;
  const left = deviation.map((own, c) => (1 - spendWeight[c]!) * own ** 2);
  const leaned = fitInto(
    value.map((amount, c) => amount + spendWeight[c]! * (USUAL_RETURN * spend[c]! - amount)),
    left,
    mostRevenue,
    isHarmful,
  );
  const shifted = (outcome: Float64Array): Float64Array =>
    fitInto(
      outcome.map((amount, c) => amount + leaned[c]! - value[c]!),
      left,
      mostRevenue,
      isHarmful,
    );
  const replicates = new Float64Array(credit.replicates.length);
  for (let g = 0; g < credit.groups; g++)
    replicates.set(shifted(credit.replicates.subarray(g * channels, (g + 1) * channels)), g * channels);
  const revenue = Math.min(sumOf(leaned), mostRevenue);
  const before = sumOf(value);
  const orderValue = credit.conversions > 0 ? before / credit.conversions : mostRevenue / mostConversions;
  return {
    credit: {
      ...credit,
      value: leaned,
      conversions: orderValue > 0 ? Math.min(Math.max(0, revenue) / orderValue, mostConversions) : 0,
      replicates,
      ends: credit.ends.map(shifted),
    },
    spendWeight,
  };
}
