import type { EventTable } from '../../journey-tables.ts';
import { jackknifeError } from '../../numerics/jackknife.ts';
import { twoSidedZ } from '../../numerics/normal-quantile.ts';
import { failure, insufficientData } from '../../outcome.ts';
import type { Checkpoint, Failure } from '../../outcome.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';
import { sharesOf, sumOf } from '../credits.ts';
import { estimationEnd, regroup, Scalar, sumExposures, sumOfCells } from './exposure-sums.ts';
import type { CellSums, ExposureSums, Segments } from './exposure-sums.ts';
import { estimateFolds, FOLD_CELLS } from './folds.ts';
import { adjustByPlacebos, effectAt, incrementalAt } from './placebo-adjustment.ts';
import type { Estimate } from './placebo-adjustment.ts';
import type { PravResult } from './prav-result.ts';
import { splitBySegment } from './segment-split.ts';

/** A single placebo channel speaks for itself from this many exposures on. */
const FEWEST_PLACEBO_EXPOSURES = 30;
/** How far the identification interval reaches beyond the κ of the single placebo channels. */
const KAPPA_MARGIN = 0.25;

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

/** The κ of each placebo channel that can speak for itself. */
function singlePlacebos(sums: ExposureSums, estimate: Estimate, isBaseline: Uint8Array): { channel: number; kappa: number }[] {
  return Array.from(isBaseline.keys())
    .filter((b) => isBaseline[b] === 1 && sums.exposures[b]! >= FEWEST_PLACEBO_EXPOSURES && estimate.pull[b]! > 0)
    .map((channel) => ({ channel, kappa: estimate.lift[channel]! / estimate.pull[channel]! }));
}

/** Delete-a-group replicates of the estimate, groups × K: signed and published revenue, and the published totals. */
function replicate(sums: CellSums, { groups, isBaseline }: RunOptions, kappa: number): { signed: Float64Array; revenue: Float64Array; totals: Float64Array } {
  const signed = new Float64Array(groups * sums.channels);
  const revenue = new Float64Array(groups * sums.channels);
  const totals = new Float64Array(groups);
  const setting = { isBaseline, scale: groups / (groups - 1), fallbackKappa: kappa };
  for (let group = 0; group < groups; group++) {
    const without = adjustByPlacebos(sumOfCells(sums, (cell) => cell !== group), setting);
    if (without === null) continue;
    signed.set(without.signedRevenue, group * sums.channels);
    revenue.set(without.incrementalRevenue, group * sums.channels);
    totals[group] = sumOf(without.incrementalRevenue);
  }
  return { signed, revenue, totals };
}

/**
 * Placebo-Referenced Attribution Validation: what a touch changes, with unpaid visits as placebos for what it does not.
 * Steps: exposure and person-time sums (exposure-sums), lift, pull, κ and effects (placebo-adjustment), delete-a-group
 * jackknife, identification interval over the κ of the single placebos.
 */
export function runPrav(events: EventTable, options: RunOptions, segmentations: readonly Segments[], checkpoint: Checkpoint): PravResult | Failure {
  const fault = faultOfOptions(events, options);
  if (fault !== null) return failure('invalid_input', `PRAV: ${fault}.`);
  if (segmentations.some(({ of }) => of.length !== events.timeS.length)) return failure('invalid_input', 'PRAV: segments need one entry per event.');
  const { isBaseline, groups } = options;
  // One pass serves the jackknife (hash mod groups) and the folds (hash mod 125) by their common multiple.
  const cells = (groups * FOLD_CELLS) / greatestCommonDivisor(groups, FOLD_CELLS);
  const sums = sumExposures(events, options, cells, segmentations, (fraction) => checkpoint(fraction * 0.95));
  const byGroup = regroup(sums, groups);
  const all = sumOfCells(byGroup, () => true);
  const setting = { isBaseline, scale: 1, fallbackKappa: null };
  const estimate = adjustByPlacebos(all, setting);
  if (estimate === null) return insufficientData(reasonAgainst(all, options));

  const { kappa, averageOrderValue, lift, pull, incrementalRevenue } = estimate;
  const kappaByBaseline = singlePlacebos(all, estimate, isBaseline);
  const kappas = kappaByBaseline.length === 0 ? [kappa] : kappaByBaseline.map((single) => single.kappa);
  const kappaRange = [(1 - KAPPA_MARGIN) * Math.min(...kappas), (1 + KAPPA_MARGIN) * Math.max(...kappas)] as const;
  const replicates = replicate(byGroup, options, kappa);
  const z = twoSidedZ(options.confidenceLevel);
  const channels = events.channels.length;
  const standardError = new Float64Array(channels);
  const intervalLow = new Float64Array(channels);
  const intervalHigh = new Float64Array(channels);
  for (let c = 0; c < channels; c++) {
    if (isBaseline[c] === 1) continue;
    standardError[c] = jackknifeError(replicates.signed, groups, c, channels);
    const perEffect = all.touches[c]! * averageOrderValue;
    const low = Math.max(0, effectAt(kappaRange[1], lift[c]!, pull[c]!) * perEffect - z * standardError[c]!);
    const high = Math.max(0, effectAt(kappaRange[0], lift[c]!, pull[c]!) * perEffect) + z * standardError[c]!;
    intervalLow[c] = Math.min(low, incrementalRevenue[c]!);
    intervalHigh[c] = Math.max(high, incrementalRevenue[c]!);
  }
  const warnings: string[] = [];
  if (kappaByBaseline.length === 0) warnings.push(`No single unpaid channel has ${FEWEST_PLACEBO_EXPOSURES} visits that can be followed: the intervals rest on all of them together.`);
  if (all.scalars[Scalar.revenue]! < 0) warnings.push('Refunds exceed sales: incremental revenue is taken as 0.');
  const revenueAt = (at: number): Float64Array => incrementalAt(at, all, estimate, setting).map((conversions) => conversions * averageOrderValue);
  checkpoint(0.97);
  return {
    ok: true,
    model: 'prav',
    channels: events.channels,
    estimationEndS: estimationEnd(options),
    kappa,
    kappaByBaseline,
    kappaRange,
    y0: estimate.y0,
    v0: estimate.v0,
    averageOrderValue,
    exposures: all.exposures,
    touches: all.touches,
    lift,
    pull,
    effect: estimate.effect,
    conversions: estimate.incrementalConversions,
    value: incrementalRevenue,
    share: sharesOf(incrementalRevenue, estimate.incrementalConversions),
    signedRevenue: estimate.signedRevenue,
    standardError,
    intervalLow,
    intervalHigh,
    total: sumOf(incrementalRevenue),
    totalStandardError: jackknifeError(replicates.totals, groups),
    rangeConversions: all.scalars[Scalar.rangeConversions]!,
    rangeRevenue: all.scalars[Scalar.rangeRevenue]!,
    replicates: replicates.revenue,
    groups,
    revenueAtKappaHigh: revenueAt(kappaRange[1]),
    revenueAtKappaLow: revenueAt(kappaRange[0]),
    folds: estimateFolds(regroup(sums, FOLD_CELLS), isBaseline, kappa),
    segments: sums.segments.map((each) => splitBySegment(each, estimate)),
    warnings,
  };
}
