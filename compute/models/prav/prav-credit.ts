import type { EventTable } from '../../journey-tables.ts';
import { failure, insufficientData } from '../../outcome.ts';
import type { Checkpoint, Failure } from '../../outcome.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';
import { sharesOf, sumOf } from '../credits.ts';
import { claimedPart } from './claim.ts';
import { regroup, Scalar, sumExposures, sumOfCells } from './exposure-sums.ts';
import type { CellSums, ExposureSums, Segments } from './exposure-sums.ts';
import { FOLD_CELLS } from './folds.ts';
import { estimateJointly, sampleFor } from './joint-estimate.ts';
import type { Joint } from './joint-estimate.ts';
import { adjustByPlacebos } from './placebo-adjustment.ts';
import type { Estimate, EstimateOn } from './placebo-adjustment.ts';
import { sumFlanks } from './visit-flanks.ts';
import type { VisitFlanks } from './visit-flanks.ts';

/** What PRAV credits, and what that rests on. */
export interface PravCredit {
  readonly ok: true;
  readonly sums: CellSums;
  /** of all users */
  readonly all: ExposureSums;
  /** by jackknife group */
  readonly flanks: VisitFlanks;
  readonly sample: ReturnType<typeof sampleFor>;
  readonly plain: Estimate;
  /** null: the plain estimate stands */
  readonly joint: Joint | null;
  readonly estimate: Estimate;
  /** the estimate on parts of the users, by jackknife group and by fold cell; the latter only `withFolds` */
  readonly onGroups: EstimateOn;
  readonly onFolds: () => EstimateOn;
  /** `all` with the touches that the estimate counts */
  readonly counted: ExposureSums;
  readonly revenuePerEffect: Float64Array;
  readonly claimed: number;
  readonly conversions: Float64Array;
  readonly value: Float64Array;
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

function faultOfOptions(events: EventTable, options: RunOptions): string | null {
  if (options.isBaseline.length !== events.channels.length) return 'isBaseline needs one entry per channel';
  if (!(options.rangeEndS > options.rangeStartS)) return 'the range is empty';
  if (!(options.confidenceLevel > 0 && options.confidenceLevel < 1)) return 'confidenceLevel lies between 0 and 1';
  if (!(options.horizonS > 0 && options.gapS >= 0 && options.placeboWindowS > 0))
    return 'horizonS and placeboWindowS must be positive';
  return Number.isInteger(options.groups) && options.groups >= 2 && options.groups <= 500
    ? null
    : 'groups lies between 2 and 500';
}

/** Why PRAV cannot answer, in words that a shop owner understands. */
function reasonAgainst(sums: ExposureSums, { isBaseline, horizonS }: RunOptions): string {
  const days = Math.round(horizonS / DAY_S);
  if (!isBaseline.includes(1)) {
    return (
      'PRAV compares paid touches with unpaid visits (direct, organic), and this data has no unpaid channel. ' +
      'Record direct and organic visits, or name your unpaid channels in the settings of the data source.'
    );
  }
  if (sums.scalars[Scalar.conversions] === 0)
    return 'There is no conversion in the data PRAV looks at, so there is nothing to explain.';
  if (sumOf(sums.exposures) === 0 || sums.scalars[Scalar.personTime] === 0) {
    return (
      `The data covers too short a time: PRAV follows every touch for ${days} days, and no touch has been ` +
      `followed that long yet.`
    );
  }
  return (
    'The unpaid visits in this data are too few, or too evenly spread, to tell people who were about to buy ' +
    'anyway from people who were persuaded.'
  );
}

/**
 * Sums and the estimate on all users; `withFolds`: the cells of the sums serve the folds as well. `sizeOf` says which
 * estimate the sample has to bear, where it is not the events' own.
 */
export function pravCredit(
  events: EventTable,
  options: RunOptions,
  segmentations: readonly Segments[],
  withFolds: boolean,
  checkpoint: Checkpoint,
  sizeOf: typeof sampleFor = sampleFor,
): PravCredit | Failure {
  const fault = faultOfOptions(events, options);
  if (fault !== null) return failure('invalid_input', `PRAV: ${fault}.`);
  if (segmentations.some(({ of }) => of.length !== events.timeS.length))
    return failure('invalid_input', 'PRAV: segments need one entry per event.');
  const { isBaseline, groups } = options;
  // One pass serves the jackknife (hash mod groups) and the folds (hash mod 125) by their common multiple.
  const cells = withFolds ? (groups * FOLD_CELLS) / greatestCommonDivisor(groups, FOLD_CELLS) : groups;
  const sums = sumExposures(events, options, cells, segmentations, (fraction) => checkpoint(fraction * 0.25));
  const byGroup = regroup(sums, groups);
  const all = sumOfCells(byGroup, () => true);
  const plain = adjustByPlacebos(all, { isBaseline, scale: 1, fallbackKappa: null });
  if (plain === null) return insufficientData(reasonAgainst(all, options));
  const flanks = sumFlanks(events, options, groups, (fraction) => checkpoint(0.25 + fraction * 0.05));
  const sample = sizeOf(events, options, all.scalars[Scalar.conversions]!);
  const jointly = (fraction: number): void => checkpoint(0.3 + fraction * 0.6);
  const joint = sample === 'fits' ? estimateJointly(events, options, byGroup, flanks, sums, jointly) : null;
  const estimate = joint?.estimate ?? plain;
  const plainlyOn =
    (parts: CellSums): EstimateOn =>
    (belongs, at) =>
      adjustByPlacebos(sumOfCells(parts, belongs), at);
  const counted: ExposureSums = joint === null ? all : { ...all, touches: joint.estimate.touches };
  const revenuePerEffect = counted.touches.map((touches) => touches * estimate.averageOrderValue);
  const claimed = joint === null ? 1 : claimedPart(joint.estimate, revenuePerEffect, isBaseline);
  const asClaimed = (figures: Float64Array): Float64Array => figures.map((figure) => figure * claimed);
  return {
    ok: true,
    sums,
    all,
    flanks,
    sample,
    plain,
    joint,
    estimate,
    onGroups: joint?.onGroups ?? plainlyOn(byGroup),
    onFolds: joint?.onFolds ?? (() => plainlyOn(regroup(sums, FOLD_CELLS))),
    counted,
    revenuePerEffect,
    claimed,
    conversions: asClaimed(estimate.incrementalConversions),
    value: asClaimed(estimate.incrementalRevenue),
  };
}

/** The shares of PRAV's credit without anything else: no intervals, no folds, no segments. */
export function pravShare(events: EventTable, options: RunOptions, throwIfCancelled: () => void): Float64Array | null {
  const credit = pravCredit(events, options, [], false, throwIfCancelled);
  return credit.ok ? sharesOf(credit.value, credit.conversions) : null;
}

/** Effects of one question, and those on all users but one group each. Arrays follow the channels of the events. */
export interface PravEffects {
  readonly ok: true;
  readonly estimator: 'plain' | 'joint';
  /** conversions per touch, signed; 0 for baseline channels */
  readonly effect: Float64Array;
  /** groups × K, row-major */
  readonly replicates: Float64Array;
  readonly revenuePerEffect: Float64Array;
  readonly exposures: Float64Array;
  /** of the requested range */
  readonly rangeRevenue: number;
}

/**
 * PRAV's signed effects with their delete-a-group jackknife replicates, and nothing else. `size`: what the sample
 * bears, so that parts of a sample are asked as the whole was.
 */
export function pravEffects(
  events: EventTable,
  options: RunOptions,
  size: ReturnType<typeof sampleFor>,
  throwIfCancelled: () => void,
): PravEffects | Failure {
  const credit = pravCredit(events, options, [], false, throwIfCancelled, () => size);
  if (!credit.ok) return credit;
  const { isBaseline, groups } = options;
  const { effect, kappa } = credit.estimate;
  const setting = { isBaseline, scale: groups / (groups - 1), fallbackKappa: kappa };
  const replicates = new Float64Array(groups * effect.length);
  for (let group = 0; group < groups; group++) {
    const without = credit.onGroups((cell) => cell !== group, setting);
    replicates.set(without?.effect ?? effect, group * effect.length);
  }
  return {
    ok: true,
    estimator: credit.joint === null ? 'plain' : 'joint',
    effect,
    replicates,
    revenuePerEffect: credit.revenuePerEffect,
    exposures: credit.all.exposures,
    rangeRevenue: credit.all.scalars[Scalar.rangeRevenue]!,
  };
}
