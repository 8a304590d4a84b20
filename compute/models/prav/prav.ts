import type { EventTable } from '../../journey-tables.ts';
import { jackknifeError } from '../../numerics/jackknife.ts';
import { twoSidedZ } from '../../numerics/normal-quantile.ts';
import type { Checkpoint, Failure } from '../../outcome.ts';
import type { RunOptions } from '../../run-options.ts';
import { sharesOf, sumOf } from '../credits.ts';
import { estimationEnd, Scalar } from './exposure-sums.ts';
import type { Segments } from './exposure-sums.ts';
import { estimateFolds } from './folds.ts';
import { FEWEST_PLACEBO_EXPOSURES, identifyByPlacebos, identifyJointly, singlePlacebos } from './identification.ts';
import { NEGATIVE_OFFSET } from './joint-adjustment.ts';
import { incrementalAt, revenueOf } from './placebo-adjustment.ts';
import type { EstimateOn } from './placebo-adjustment.ts';
import { pravCredit } from './prav-credit.ts';
import type { PravResult } from './prav-result.ts';
import { splitBySegment } from './segment-split.ts';
import { channelFlanks } from './visit-flanks.ts';

/** Delete-a-group replicates of the estimate, groups × K: signed and published revenue, and the published totals. */
function replicate(
  estimateOn: EstimateOn,
  { groups, isBaseline }: RunOptions,
  kappa: number,
): { signed: Float64Array; revenue: Float64Array; totals: Float64Array } {
  const channels = isBaseline.length;
  const signed = new Float64Array(groups * channels);
  const revenue = new Float64Array(groups * channels);
  const totals = new Float64Array(groups);
  const setting = { isBaseline, scale: groups / (groups - 1), fallbackKappa: kappa };
  for (let group = 0; group < groups; group++) {
    const without = estimateOn((cell) => cell !== group, setting);
    if (without === null) continue;
    signed.set(without.signedRevenue, group * channels);
    revenue.set(without.incrementalRevenue, group * channels);
    totals[group] = sumOf(without.incrementalRevenue);
  }
  return { signed, revenue, totals };
}

/**
 * Placebo-Referenced Attribution Validation: what a touch changes, with unpaid visits as placebos for what it does not.
 * Steps: exposure and person-time sums (exposure-sums), lift, pull, κ and effects (placebo-adjustment; on large samples
 * joint-adjustment over hazard-sums), delete-a-group jackknife, identification interval.
 */
export function runPrav(
  events: EventTable,
  options: RunOptions,
  segmentations: readonly Segments[],
  checkpoint: Checkpoint,
): PravResult | Failure {
  const credited = pravCredit(events, options, segmentations, true, checkpoint);
  if (!credited.ok) return credited;
  const { isBaseline, groups } = options;
  const { sums, all, flanks, sample, plain, joint, estimate, onGroups, counted } = credited;
  const { revenuePerEffect, claimed, conversions, value: incrementalRevenue } = credited;
  const stock = joint?.correction.stock ?? null;
  const setting = { isBaseline, scale: 1, fallbackKappa: null };
  const { kappa, averageOrderValue, lift, pull } = estimate;
  const replicates = replicate(onGroups, options, kappa);
  const channels = events.channels.length;
  const z = twoSidedZ(options.confidenceLevel);
  const standardError = revenuePerEffect.map((_, c) =>
    isBaseline[c] === 1 ? 0 : jackknifeError(replicates.signed, groups, c, channels),
  );
  const asClaimed = (figures: Float64Array): Float64Array => figures.map((figure) => figure * claimed);
  const kappaByBaseline = singlePlacebos(all, estimate, isBaseline);
  const { kappaRange, low, high, signedLow, signedHigh } =
    joint === null
      ? identifyByPlacebos(
          plain,
          kappaByBaseline.map((single) => single.kappa),
          revenuePerEffect,
          standardError,
          z,
        )
      : identifyJointly(joint.estimate, joint.correction.halo, revenuePerEffect, standardError, z);
  const intervalLow = low.map((end, c) => (isBaseline[c] === 1 ? 0 : Math.min(end, incrementalRevenue[c]!)));
  const intervalHigh = high.map((end, c) => (isBaseline[c] === 1 ? 0 : Math.max(end, incrementalRevenue[c]!)));
  const warnings: string[] = [];
  if (joint === null && kappaByBaseline.length === 0)
    warnings.push(
      `No single unpaid channel has ${FEWEST_PLACEBO_EXPOSURES} visits that can be followed: the intervals rest on ` +
        `all of them together.`,
    );
  if (sample === 'fits' && joint === null)
    warnings.push(
      'Unpaid visits draw no further visits on balance, so that nothing tells what interest is worth in orders ' +
        'where touches overlap: each touch was judged by itself, and the total can be far off. An experiment would ' +
        'settle it.',
    );
  if (sample === 'too many channels')
    warnings.push(
      'There are too many channels to tell overlapping touches apart: each was judged by itself, and the total can ' +
        'be far off. Ask for fewer channels, or merge small ones.',
    );
  if (claimed < 1)
    warnings.push(
      `What the paid channels show in total is no more than an error in the price of interest (κ) could make: ` +
        `${claimed === 0 ? 'none' : `${Math.round(claimed * 100)} %`} of it is claimed. An experiment ` +
        `would settle it.`,
    );
  if (all.scalars[Scalar.revenue]! < 0) warnings.push('Refunds exceed sales: incremental revenue is taken as 0.');
  const revenueAt = (at: number): Float64Array =>
    revenueOf(
      incrementalAt(at, counted, estimate, setting, joint === null ? 0 : NEGATIVE_OFFSET),
      averageOrderValue,
      all,
      1,
    );
  checkpoint(0.97);
  return {
    ok: true,
    model: 'prav',
    channels: events.channels,
    estimator: joint === null ? 'plain' : 'joint',
    dataStartS: flanks.dataStartS,
    estimationEndS: estimationEnd(options),
    horizonS: options.horizonS,
    kappa,
    adStock: stock === null ? null : { ratio: stock.ratio, beyond: stock.beyond },
    restraint: joint?.correction.restraint ?? 1,
    claimed,
    kappaByBaseline,
    kappaRange,
    y0: estimate.y0,
    v0: estimate.v0,
    averageOrderValue,
    exposures: all.exposures,
    conversionsAfter: all.conversionsAfter.map((count, c) => (count > 0 ? count / all.exposures[c]! : 0)),
    flanks: channelFlanks(flanks, channels),
    touches: all.touches,
    lift,
    pull,
    halo: joint?.correction.halo ?? new Float64Array(channels),
    effect: estimate.effect,
    conversions,
    value: incrementalRevenue,
    share: sharesOf(incrementalRevenue, conversions),
    signedRevenue: estimate.signedRevenue,
    standardError,
    intervalLow,
    intervalHigh,
    signedLow: signedLow.map((end, c) => (isBaseline[c] === 1 ? 0 : Math.min(end, estimate.signedRevenue[c]!))),
    signedHigh: signedHigh.map((end, c) => (isBaseline[c] === 1 ? 0 : Math.max(end, estimate.signedRevenue[c]!))),
    total: sumOf(incrementalRevenue),
    totalStandardError: claimed * jackknifeError(replicates.totals, groups),
    rangeConversions: all.scalars[Scalar.rangeConversions]!,
    rangeRevenue: all.scalars[Scalar.rangeRevenue]!,
    replicates: asClaimed(replicates.revenue),
    groups,
    revenueAtKappaHigh: revenueAt(kappaRange[1]),
    revenueAtKappaLow: revenueAt(kappaRange[0]),
    revenueOfLift: revenueAt(0),
    folds: estimateFolds(credited.onFolds(), isBaseline, kappa),
    segments: sums.segments.map((each) => splitBySegment(each, plain, joint?.estimate.effect ?? null)),
    warnings,
  };
}
