import type { EventTable } from '../../journey-tables.ts';
import { jackknifeError } from '../../numerics/jackknife.ts';
import { twoSidedZ } from '../../numerics/normal-quantile.ts';
import { failure, insufficientData } from '../../outcome.ts';
import type { Checkpoint, Failure } from '../../outcome.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';
import { sharesOf, sumOf } from '../credits.ts';
import { claimedPart } from './claim.ts';
import { estimationEnd, regroup, Scalar, sumExposures, sumOfCells } from './exposure-sums.ts';
import type { ExposureSums, Segments } from './exposure-sums.ts';
import { estimateFolds, FOLD_CELLS } from './folds.ts';
import { FEWEST_PLACEBO_EXPOSURES, identifyByPlacebos, identifyJointly, singlePlacebos } from './identification.ts';
import { NEGATIVE_OFFSET } from './joint-adjustment.ts';
import { estimateJointly, sampleFor } from './joint-estimate.ts';
import { adjustByPlacebos, incrementalAt, revenueOf } from './placebo-adjustment.ts';
import type { EstimateOn } from './placebo-adjustment.ts';
import type { PravResult } from './prav-result.ts';
import { splitBySegment } from './segment-split.ts';

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

function faultOfOptions(events: EventTable, options: RunOptions): string | null {
  if (options.isBaseline.length !== events.channels.length) return 'isBaseline needs one entry per channel';
  if (!(options.rangeEndS > options.rangeStartS)) return 'the range is empty';
  if (!(options.confidenceLevel > 0 && options.confidenceLevel < 1)) return 'confidenceLevel lies between 0 and 1';
  if (!(options.horizonS > 0 && options.gapS >= 0 && options.placeboWindowS > 0)) return 'horizonS and placeboWindowS must be positive';
  return Number.isInteger(options.groups) && options.groups >= 2 && options.groups <= 500 ? null : 'groups lies between 2 and 500';
}

/** Why PRAV cannot answer, in words that a shop owner understands. */
function reasonAgainst(sums: ExposureSums, { isBaseline, horizonS }: RunOptions): string {
  const days = Math.round(horizonS / DAY_S);
  if (!isBaseline.includes(1)) {
    return 'PRAV compares paid touches with unpaid visits (direct, organic), and this data has no unpaid channel. Record direct and organic visits, or name your unpaid channels in the settings of the data source.';
  }
  if (sums.scalars[Scalar.conversions] === 0) return 'There is no conversion in the data PRAV looks at, so there is nothing to explain.';
  if (sumOf(sums.exposures) === 0 || sums.scalars[Scalar.personTime] === 0) {
    return `The data covers too short a time: PRAV follows every touch for ${days} days, and no touch has been followed that long yet.`;
  }
  return 'The unpaid visits in this data are too few, or too evenly spread, to tell people who were about to buy anyway from people who were persuaded.';
}

/** Delete-a-group replicates of the estimate, groups × K: signed and published revenue, and the published totals. */
function replicate(estimateOn: EstimateOn, { groups, isBaseline }: RunOptions, kappa: number): { signed: Float64Array; revenue: Float64Array; totals: Float64Array } {
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
export function runPrav(events: EventTable, options: RunOptions, segmentations: readonly Segments[], checkpoint: Checkpoint): PravResult | Failure {
  const fault = faultOfOptions(events, options);
  if (fault !== null) return failure('invalid_input', `PRAV: ${fault}.`);
  if (segmentations.some(({ of }) => of.length !== events.timeS.length)) return failure('invalid_input', 'PRAV: segments need one entry per event.');
  const { isBaseline, groups } = options;
  // One pass serves the jackknife (hash mod groups) and the folds (hash mod 125) by their common multiple.
  const cells = (groups * FOLD_CELLS) / greatestCommonDivisor(groups, FOLD_CELLS);
  const sums = sumExposures(events, options, cells, segmentations, (fraction) => checkpoint(fraction * 0.3));
  const byGroup = regroup(sums, groups);
  const byFold = regroup(sums, FOLD_CELLS);
  const all = sumOfCells(byGroup, () => true);
  const setting = { isBaseline, scale: 1, fallbackKappa: null };
  const plain = adjustByPlacebos(all, setting);
  if (plain === null) return insufficientData(reasonAgainst(all, options));
  const sample = sampleFor(events, options, all.scalars[Scalar.conversions]!);
  const joint = sample === 'fits' ? estimateJointly(events, options, byGroup, byFold, cells, (fraction) => checkpoint(0.3 + fraction * 0.6)) : null;
  const estimate = joint?.estimate ?? plain;
  const stock = joint?.correction.stock ?? null;
  const onGroups: EstimateOn = joint?.onGroups ?? ((belongs, at) => adjustByPlacebos(sumOfCells(byGroup, belongs), at));
  const onFolds: EstimateOn = joint?.onFolds ?? ((belongs, at) => adjustByPlacebos(sumOfCells(byFold, belongs), at));

  const { kappa, averageOrderValue, lift, pull } = estimate;
  const replicates = replicate(onGroups, options, kappa);
  const channels = events.channels.length;
  const z = twoSidedZ(options.confidenceLevel);
  const counted: ExposureSums = joint === null ? all : { ...all, touches: joint.estimate.touches };
  const revenuePerEffect = counted.touches.map((touches) => touches * averageOrderValue);
  const standardError = revenuePerEffect.map((_, c) => (isBaseline[c] === 1 ? 0 : jackknifeError(replicates.signed, groups, c, channels)));
  const claimed = joint === null ? 1 : claimedPart(joint.estimate, revenuePerEffect, isBaseline);
  const asClaimed = (figures: Float64Array): Float64Array => figures.map((figure) => figure * claimed);
  const incrementalRevenue = asClaimed(estimate.incrementalRevenue);
  const conversions = asClaimed(estimate.incrementalConversions);
  const kappaByBaseline = singlePlacebos(all, estimate, isBaseline);
  const { kappaRange, low, high } =
    joint === null
      ? identifyByPlacebos(plain, kappaByBaseline.map((single) => single.kappa), revenuePerEffect, standardError, z)
      : identifyJointly(joint.estimate, joint.correction.halo, revenuePerEffect, standardError, z);
  const intervalLow = low.map((end, c) => (isBaseline[c] === 1 ? 0 : Math.min(end, incrementalRevenue[c]!)));
  const intervalHigh = high.map((end, c) => (isBaseline[c] === 1 ? 0 : Math.max(end, incrementalRevenue[c]!)));
  const warnings: string[] = [];
  if (joint === null && kappaByBaseline.length === 0) warnings.push(`No single unpaid channel has ${FEWEST_PLACEBO_EXPOSURES} visits that can be followed: the intervals rest on all of them together.`);
  if (sample === 'fits' && joint === null) warnings.push('Unpaid visits draw no further visits on balance, so that nothing tells what interest is worth in orders where touches overlap: each touch was judged by itself, and the total can be far off. An experiment would settle it.');
  if (sample === 'too many channels') warnings.push('There are too many channels to tell overlapping touches apart: each was judged by itself, and the total can be far off. Ask for fewer channels, or merge small ones.');
  if (claimed < 1) warnings.push(`What the paid channels show in total is no more than an error in the price of interest (κ) could make: ${claimed === 0 ? 'none' : `${Math.round(claimed * 100)} %`} of it is claimed. An experiment would settle it.`);
  if (all.scalars[Scalar.revenue]! < 0) warnings.push('Refunds exceed sales: incremental revenue is taken as 0.');
  const revenueAt = (at: number): Float64Array => revenueOf(incrementalAt(at, counted, estimate, setting, joint === null ? 0 : NEGATIVE_OFFSET), averageOrderValue, all, 1);
  checkpoint(0.97);
  return {
    ok: true,
    model: 'prav',
    channels: events.channels,
    estimator: joint === null ? 'plain' : 'joint',
    estimationEndS: estimationEnd(options),
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
    total: sumOf(incrementalRevenue),
    totalStandardError: claimed * jackknifeError(replicates.totals, groups),
    rangeConversions: all.scalars[Scalar.rangeConversions]!,
    rangeRevenue: all.scalars[Scalar.rangeRevenue]!,
    replicates: asClaimed(replicates.revenue),
    groups,
    revenueAtKappaHigh: revenueAt(kappaRange[1]),
    revenueAtKappaLow: revenueAt(kappaRange[0]),
    folds: estimateFolds(onFolds, isBaseline, kappa),
    segments: sums.segments.map((each) => splitBySegment(each, plain, joint?.estimate.effect ?? null)),
    warnings,
  };
}
