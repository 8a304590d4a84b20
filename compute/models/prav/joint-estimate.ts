import type { EventTable } from '../../journey-tables.ts';
import type { Checkpoint } from '../../outcome.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';
import { jackknifeError } from '../../numerics/jackknife.ts';
import { adStockOf, touchCalendar } from './ad-stock.ts';
import type { AdStock } from './ad-stock.ts';
import { estimationEnd, Scalar, sumOfCells } from './exposure-sums.ts';
import type { CellSums } from './exposure-sums.ts';
import { FOLD_CELLS } from './folds.ts';
import { haloOf } from './halo.ts';
import { regroupHazards, sumHazards } from './hazard-sums.ts';
import { adjustJointly, effectsByHalf, evidenceOfCells } from './joint-adjustment.ts';
import type { HazardEvidence, JointEstimate } from './joint-adjustment.ts';
import type { EstimateOn } from './placebo-adjustment.ts';

/**
 * The joint estimate (joint-adjustment) replaces the plain one from this many users and conversions on: below, its columns
 * are mostly noise, and the plain lift over person-time errs less.
 */
const JOINT_FROM_USERS = 5_000;
const JOINT_FROM_CONVERSIONS = 300;

/** Users who were first seen before the moment. */
function usersBefore({ userStart, timeS }: EventTable, momentS: number): number {
  let users = 0;
  for (let user = 0; user + 1 < userStart.length; user++) if (userStart[user]! < userStart[user + 1]! && timeS[userStart[user]!]! < momentS) users++;
  return users;
}

/** The joint estimate on all users and on parts of them; null where the sample is too small for it. */
export interface Joint {
  readonly estimate: JointEstimate;
  readonly halo: Float64Array;
  readonly stock: AdStock;
  readonly touches: Float64Array;
  readonly onGroups: EstimateOn;
  readonly onFolds: EstimateOn;
}

/** `byGroup` and `byFold` are the plain sums of the same users, by jackknife group and by fold cell. */
export function estimateJointly(events: EventTable, options: RunOptions, byGroup: CellSums, byFold: CellSums, cells: number, checkpoint: Checkpoint): Joint | null {
  const { isBaseline, groups, placeboWindowS } = options;
  const all = sumOfCells(byGroup, () => true);
  if (usersBefore(events, estimationEnd(options) - options.horizonS) < JOINT_FROM_USERS || all.scalars[Scalar.conversions]! < JOINT_FROM_CONVERSIONS) return null;
  const hazards = sumHazards(events, options, cells, checkpoint);
  const hazardsByGroup = regroupHazards(hazards, groups);
  const hazardsByFold = regroupHazards(hazards, FOLD_CELLS);
  const halo = haloOf(hazardsByGroup, isBaseline, placeboWindowS / DAY_S);
  const evidence = evidenceOfCells(hazardsByGroup, () => true);
  const whole = { isBaseline, scale: 1, fallbackKappa: null };
  const withinHorizon = adjustJointly(all, evidence, { halo, stock: null }, whole);
  if (withinHorizon === null) return null;
  const { kappa } = withinHorizon;
  const ratioOn = (part: HazardEvidence): number => {
    const halves = effectsByHalf(part, { halo, kappa }, isBaseline);
    return halves === null || halves.early <= 0 ? 0 : halves.late / halves.early;
  };
  const ratios = Float64Array.from({ length: groups }, (_, group) => ratioOn(evidenceOfCells(hazardsByGroup, (cell) => cell !== group)));
  const stock = adStockOf(ratioOn(evidence), jackknifeError(ratios, groups), touchCalendar(events, options), evidence.touches, options.horizonS / DAY_S);
  const correction = { halo, stock };
  const estimate = adjustJointly(all, evidence, correction, whole);
  if (estimate === null) return null;
  return {
    estimate,
    halo,
    stock,
    touches: estimate.touches,
    onGroups: (belongs, setting) => adjustJointly(sumOfCells(byGroup, belongs), evidenceOfCells(hazardsByGroup, belongs), correction, setting),
    onFolds: (belongs, setting) => adjustJointly(sumOfCells(byFold, belongs), evidenceOfCells(hazardsByFold, belongs), correction, setting),
  };
}
