import { twoSidedZ } from '../../numerics/normal-quantile.ts';
import type { Failure, PathTotals } from '../../outcome.ts';
import { sharesOf, sumOf } from '../credits.ts';
import type { MarkovResult } from '../markov/markov-result.ts';
import { NEGATIVE_OFFSET } from '../prav/joint-adjustment.ts';
import type { PravResult } from '../prav/prav-result.ts';
import type { Belief } from './calibration.ts';
import { aligner } from './channel-alignment.ts';
import { blend, priorWeights, stackedWeights } from './stacking.ts';
import type { MemberShares, MemberWeights } from './stacking.ts';

/**
 * What the model gets wrong about a channel because nobody knows how people come to buy in this shop: one standard
 * deviation, as a part of the revenue. It stands beside the sampling error. Chosen on shops whose authors had not read
 * this code, where the error hardly follows a channel's size, reach or lift (decision 038). Experiments take it away.
 */
export const MECHANISM_ERROR = 0.05;

/** How T is found and how sure it is: from PRAV, or from the paths alone. */
export interface IncrementalCredit {
  readonly basis: 'placebo_adjusted' | 'prior';
  readonly weights: MemberWeights;
  /** credit per channel, whose sum is T; below 0 only where the whole interval is */
  readonly value: Float64Array;
  /** that go with T */
  readonly conversions: number;
  /** per channel, before it is widened to contain the credit */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /**
   * the credit that each delete-a-group jackknife replicate leads to (groups × K, row-major), weights held; no groups
   * without PRAV
   */
  readonly replicates: Float64Array;
  readonly groups: number;
  /** the credit at the ends of what identification leaves open */
  readonly ends: readonly Float64Array[];
  /** κ and what it does to the credit, for experiments; null without placebos */
  readonly kappa: Belief['kappa'];
  readonly warnings: readonly string[];
}

/** What bounds the credit of a run. */
export interface CreditSetting {
  readonly channels: number;
  readonly isBaseline: Uint8Array;
  readonly confidenceLevel: number;
  /** T never passes the revenue of the range */
  readonly mostRevenue: number;
  readonly mostConversions: number;
}

/**
 * T and the intervals from PRAV, weights by stacking on its folds. Channels in `harmful` stand with what PRAV measures,
 * which is below 0; the others share what is left as if these were not there.
 */
export function creditByPlacebos(
  prav: PravResult,
  align: ReturnType<typeof aligner>,
  memberShares: MemberShares,
  harmful: ReadonlySet<number>,
  setting: CreditSetting,
): IncrementalCredit {
  const { channels, isBaseline } = setting;
  const folds = {
    ...prav.folds,
    target: align(prav.folds.target, prav.folds.folds),
    error: align(prav.folds.error, prav.folds.folds),
    share: align(prav.folds.share, prav.folds.folds),
  };
  const learned = stackedWeights(memberShares, folds, channels, prav.estimator === 'joint');
  const weights = learned ?? { markov: 0, shapley: 0, dominance: 0, rwa: 0, prav: 1 };
  const signed = align(prav.signedRevenue);
  const shares = withoutHarmful(memberShares, harmful);
  const untaken = harmNotTakenOff(prav, signed, harmful);
  const blended = blend(shares, weights, channels);
  const withoutPrav = blend({ ...shares, prav: new Float64Array(channels) }, weights, channels);
  // The credit that another PRAV outcome (a jackknife replicate, another κ) would have led to, weights held.
  const creditWith = (outcome: Float64Array): Float64Array => {
    const total = Math.min(sumOf(outcome) + untaken, setting.mostRevenue);
    const share = sharesOf(outcome);
    return withoutPrav.map((part, c) => (harmful.has(c) ? signed[c]! : (part + weights.prav * share[c]!) * total));
  };
  const positive = Math.min(prav.total + untaken, setting.mostRevenue);
  const value = blended.map((part, c) => (harmful.has(c) ? signed[c]! : part * positive));
  const replicates = align(prav.replicates, prav.groups);
  for (let g = 0; g < prav.groups; g++)
    replicates.set(creditWith(replicates.subarray(g * channels, (g + 1) * channels)), g * channels);
  const [atHigh, atLow] = [align(prav.revenueAtKappaHigh), align(prav.revenueAtKappaLow)];
  const reach = prav.kappaRange[1] - prav.kappaRange[0];
  const centre = align(prav.value).map((amount, c) => (harmful.has(c) ? signed[c]! : amount));
  const mechanism = mechanismReach(prav.rangeRevenue, setting);
  // A touch sets off one order at most.
  const mostMoved = align(prav.touches).map((touches) => touches * prav.averageOrderValue);
  const reachOf = (ends: Float64Array, signedEnds: Float64Array): Float64Array =>
    ends.map((end, c) =>
      Math.hypot((harmful.has(c) ? signedEnds[c]! : end) - centre[c]!, Math.min(mechanism, Math.max(0, mostMoved[c]!))),
    );
  const below = reachOf(align(prav.intervalLow), align(prav.signedLow));
  const above = reachOf(align(prav.intervalHigh), align(prav.signedHigh));
  const conversions = Math.min(sumOf(prav.conversions), setting.mostConversions);
  return {
    basis: 'placebo_adjusted',
    weights,
    value,
    conversions: harmful.size === 0 ? conversions : conversionsOf(sumOf(value), conversions, prav.total),
    low: centre.map((amount, c) => amount - below[c]!),
    high: centre.map((amount, c) => amount + above[c]!),
    replicates,
    groups: prav.groups,
    ends: [creditWith(atHigh), creditWith(atLow)],
    kappa:
      reach > 0
        ? {
            value: prav.kappa,
            deviation: reach / (2 * twoSidedZ(setting.confidenceLevel)),
            slope: atHigh.map((revenueThere, c) => (isBaseline[c] === 1 ? 0 : (revenueThere - atLow[c]!) / reach)),
          }
        : null,
    warnings: [
      ...prav.warnings,
      ...(learned === null && prav.total > 0
        ? ['The held-out folds were too small to learn model weights: PRAV stands alone.']
        : []),
    ],
  };
}

/** Conversions that go with a total, at the value of an order. */
const conversionsOf = (total: number, conversions: number, before: number): number =>
  before > 0 ? Math.max(0, (conversions * total) / before) : 0;

/** Shares of the other channels, which sum to 1 without the harmful ones. */
function withoutHarmful(shares: MemberShares, harmful: ReadonlySet<number>): MemberShares {
  if (harmful.size === 0) return shares;
  return Object.fromEntries(
    Object.entries(shares).map(([member, share]) => [
      member,
      sharesOf(share.map((part, c) => (harmful.has(c) ? 0 : part))),
    ]),
  );
}

/**
 * What the joint estimate took off the other channels for effects below 0 that are now shown where they belong: its
 * total is the sum of the signed effects. The plain one takes nothing off.
 */
function harmNotTakenOff(
  { estimator, claimed }: Pick<PravResult, 'estimator' | 'claimed'>,
  signed: Float64Array,
  harmful: ReadonlySet<number>,
): number {
  if (estimator === 'plain' || harmful.size === 0) return 0;
  const all = sumOf(signed);
  const harm = [...harmful].reduce((sum, c) => sum - signed[c]!, 0);
  return NEGATIVE_OFFSET * claimed * (Math.max(0, all + harm) - Math.max(0, all));
}

/**
 * Without placebos: published prior weights, T = the paid share of the path credit. Nothing in such data rules out that
 * a channel caused no sale, nor that it caused all that passed through it: each interval reaches from 0 to the largest
 * credit that any member gives, or to what Markov's chain loses without the channel where that is more.
 */
export function creditByPrior(
  shares: MemberShares,
  fullShares: MemberShares,
  totals: PathTotals,
  markov: MarkovResult | Failure,
  channelNames: readonly string[],
  reason: string,
  setting: CreditSetting,
): IncrementalCredit {
  const { channels, isBaseline } = setting;
  const weights = priorWeights(shares);
  const paid = blend(fullShares, weights, channels).reduce(
    (sum, share, c) => (isBaseline[c] === 1 ? sum : sum + share),
    0,
  );
  const revenue = Math.min(Math.max(0, totals.value) * paid, setting.mostRevenue);
  const mechanism = mechanismReach(totals.value, setting);
  const high = new Float64Array(channels);
  for (const share of Object.values(fullShares))
    share.forEach(
      (part, c) => (high[c] = isBaseline[c] === 1 ? 0 : Math.max(high[c]!, part * Math.max(0, totals.value))),
    );
  if (markov.ok)
    aligner(
      channelNames,
      markov.channels,
    )(markov.removalEffectValue).forEach(
      (effect, c) => (high[c] = isBaseline[c] === 1 ? 0 : Math.max(high[c]!, effect * Math.max(0, totals.value))),
    );
  return {
    basis: 'prior',
    weights,
    value: blend(shares, weights, channels).map((part) => part * Math.max(0, revenue)),
    conversions: Math.min(totals.conversions * paid, setting.mostConversions),
    low: high.map((_, c) => (isBaseline[c] === 1 ? 0 : -mechanism)),
    high: high.map((end, c) => (isBaseline[c] === 1 ? 0 : end + mechanism)),
    replicates: new Float64Array(0),
    groups: 0,
    ends: [new Float64Array(channels), high],
    kappa: null,
    warnings: [
      `Placebo validation could not run: ${reason}`,
      'Model weights are the published priors (Markov .45, Shapley .45, dominance .05, relative weights .05), not ' +
        'learned from this data.',
      'What the models credit is the paid share of the journeys, which is not corrected for people who ' +
        'would have bought anyway: read it as an upper bound.',
    ],
  };
}

/** Half the width that the unknown mechanism gives an interval. */
function mechanismReach(revenue: number, { confidenceLevel }: CreditSetting): number {
  return twoSidedZ(confidenceLevel) * MECHANISM_ERROR * Math.max(0, revenue);
}
