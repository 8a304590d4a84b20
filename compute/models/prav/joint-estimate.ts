import type { EventTable } from '../../journey-tables.ts';
import type { Checkpoint } from '../../outcome.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';
import { jackknifeError } from '../../numerics/jackknife.ts';
import { adStockOf, touchCalendar } from './ad-stock.ts';
import type { TouchCalendar } from './ad-stock.ts';
import { estimationEnd, Scalar, sumOfCells } from './exposure-sums.ts';
import type { CellSums } from './exposure-sums.ts';
import { FOLD_CELLS } from './folds.ts';
import { haloOf } from './halo.ts';
import { regroupHazards, sumHazards } from './hazard-sums.ts';
import type { HazardSums } from './hazard-sums.ts';
import { adjustJointly, effectsByHalf, evidenceOfCells, kappaFrom } from './joint-adjustment.ts';
import type { Correction, HazardEvidence, JointEstimate } from './joint-adjustment.ts';
import { restraintOf } from './kappa-restraint.ts';
import type { PaidTotals } from './kappa-restraint.ts';
import type { EstimateOn, Setting } from './placebo-adjustment.ts';

/**
 * The joint estimate (joint-adjustment) replaces the plain one from this many users and conversions on: below, its columns
 * are mostly noise, and the plain lift over person-time errs less.
 */
const JOINT_FROM_USERS = 5_000;
const JOINT_FROM_CONVERSIONS = 300;

/** A difference of this many standard errors is not believed at all; a larger one the more, the larger it is. */
const CHANCE_ERRORS = 3;

/** The part of an excess that is believed: positive-part shrinkage (James & Stein 1961; Baranchik 1964). */
const beyondChance = (excess: number, error: number): number => (excess > CHANCE_ERRORS * error ? 1 - (CHANCE_ERRORS * error) ** 2 / excess ** 2 : 0);

/** By how much κ over the whole horizon exceeds that without the days right after a visit. */
const excessOf = ({ sources: { whole, late } }: JointEstimate): number => (whole === null || late === null ? 0 : whole - late);

/** Users who were first seen before the moment. */
function usersBefore({ userStart, timeS }: EventTable, momentS: number): number {
  let users = 0;
  for (let user = 0; user + 1 < userStart.length; user++) if (userStart[user]! < userStart[user + 1]! && timeS[userStart[user]!]! < momentS) users++;
  return users;
}

/** The joint estimate on all users and on parts of them; null where the sample is too small for it. */
export interface Joint {
  readonly estimate: JointEstimate;
  readonly correction: Correction;
  readonly onGroups: EstimateOn;
  readonly onFolds: EstimateOn;
}

/** The estimate on the users of the cells that `belongs` selects, under a correction. */
type EstimateUnder = (correction: Correction) => (belongs: (cell: number) => boolean, setting: Setting) => JointEstimate | null;

/** The conversions and unpaid visits of each paid channel's touches, at the κ of the placebos; `scale` as in Setting. */
function paidTotals({ sources, kappa, touches, lift, pull }: JointEstimate, announced: number, { isBaseline, scale }: Setting): PaidTotals {
  const ofPaid = (perTouch: Float64Array, least: number): Float64Array => perTouch.map((each, c) => (isBaseline[c] === 1 ? 0 : Math.max(least, each) * touches[c]! * scale));
  return { kappa: kappaFrom(sources, announced) ?? kappa, lift: ofPaid(lift, -Infinity), pull: ofPaid(pull, 0) };
}

/** What the users together settle: halo, how far visits announce orders, what κ the paid channels bear, and how effects wear off. null where there is no estimate. */
function settle(estimateUnder: EstimateUnder, evidenceOf: (belongs: (cell: number) => boolean) => HazardEvidence, halo: Float64Array, calendar: TouchCalendar, { isBaseline, groups, horizonS }: RunOptions, look: () => void): Correction | null {
  const everyone = (): boolean => true;
  const without = Array.from({ length: groups }, (_, group) => (cell: number): boolean => cell !== group);
  const plainly = { halo, announced: 0, restraint: 1, stock: null };
  const whole = { isBaseline, scale: 1, fallbackKappa: null };
  const first = estimateUnder(plainly)(everyone, whole);
  if (first === null) return null;
  const part = { isBaseline, scale: groups / (groups - 1), fallbackKappa: first.kappa };
  // A set of users that gives no answer stands for no deviation from the whole.
  const firstOn = without.map((belongs) => estimateUnder(plainly)(belongs, part) ?? first);
  const announced = beyondChance(excessOf(first), jackknifeError(Float64Array.from(firstOn, excessOf), groups));
  const all = paidTotals(first, announced, whole);
  const restraint = restraintOf(all, firstOn.map((estimate) => paidTotals(estimate, announced, estimate === first ? whole : part)));
  const kappa = restraint * all.kappa;
  const ratioOn = (evidence: HazardEvidence): number => {
    const halves = effectsByHalf(evidence, { halo, kappa }, isBaseline, look);
    return halves === null || halves.early <= 0 ? 0 : halves.late / halves.early;
  };
  const evidence = evidenceOf(everyone);
  const ratioError = jackknifeError(Float64Array.from(without, (belongs) => ratioOn(evidenceOf(belongs))), groups);
  return { halo, announced, restraint, stock: adStockOf(ratioOn(evidence), ratioError, calendar, evidence.touches, horizonS / DAY_S) };
}

/** `byGroup` and `byFold` are the plain sums of the same users, by jackknife group and by fold cell. */
export function estimateJointly(events: EventTable, options: RunOptions, byGroup: CellSums, byFold: CellSums, cells: number, checkpoint: Checkpoint): Joint | null {
  const { isBaseline, groups, placeboWindowS } = options;
  const conversions = sumOfCells(byGroup, () => true).scalars[Scalar.conversions]!;
  if (usersBefore(events, estimationEnd(options) - options.horizonS) < JOINT_FROM_USERS || conversions < JOINT_FROM_CONVERSIONS) return null;
  const hazards = sumHazards(events, options, cells, checkpoint);
  const look = (): void => checkpoint(1);
  const hazardsByGroup = regroupHazards(hazards, groups);
  const hazardsByFold = regroupHazards(hazards, FOLD_CELLS);
  const under = (sums: CellSums, hazardsOf: HazardSums): EstimateUnder => (correction) => (belongs, setting) => adjustJointly(sumOfCells(sums, belongs), evidenceOfCells(hazardsOf, belongs, look), correction, setting, look);
  const halo = haloOf(hazardsByGroup, isBaseline, placeboWindowS / DAY_S);
  const correction = settle(under(byGroup, hazardsByGroup), (belongs) => evidenceOfCells(hazardsByGroup, belongs, look), halo, touchCalendar(events, options), options, look);
  if (correction === null) return null;
  const onGroups = under(byGroup, hazardsByGroup)(correction);
  const estimate = onGroups(() => true, { isBaseline, scale: 1, fallbackKappa: null });
  return estimate === null ? null : { estimate, correction, onGroups, onFolds: under(byFold, hazardsByFold)(correction) };
}
