import type { EventTable } from '../../journey-tables.ts';
import type { Checkpoint } from '../../outcome.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';
import { jackknifeError } from '../../numerics/jackknife.ts';
import { adStockOf, touchCalendar } from './ad-stock.ts';
import type { TouchCalendar } from './ad-stock.ts';
import { estimationEnd, regroup, sumOfCells } from './exposure-sums.ts';
import type { CellSums } from './exposure-sums.ts';
import { FOLD_CELLS } from './folds.ts';
import { haloOf } from './halo.ts';
import { regroupHazards, sumHazards } from './hazard-sums.ts';
import type { HazardSums } from './hazard-sums.ts';
import { adjustJointly, effectsByHalf, evidenceOfCells } from './joint-adjustment.ts';
import type { Correction, HazardEvidence, JointEstimate } from './joint-adjustment.ts';
import { restraintOf } from './kappa-restraint.ts';
import type { PaidTotals } from './kappa-restraint.ts';
import type { EstimateOn, Setting } from './placebo-adjustment.ts';
import type { VisitFlanks } from './visit-flanks.ts';

/**
 * The joint estimate (joint-adjustment) replaces the plain one from this many users and conversions on: below, its
 * columns are mostly noise, and the plain lift over person-time errs less.
 */
const JOINT_FROM_USERS = 5_000;
const JOINT_FROM_CONVERSIONS = 300;
/** The sums grow with the square of the channels: with these they take 0.3 GB. */
const JOINT_TO_CHANNELS = 100;

/** Users who were first seen before the moment. */
function usersBefore({ userStart, timeS }: EventTable, momentS: number): number {
  let users = 0;
  for (let user = 0; user + 1 < userStart.length; user++)
    if (userStart[user]! < userStart[user + 1]! && timeS[userStart[user]!]! < momentS) users++;
  return users;
}

/** The joint estimate on all users and on parts of them. */
export interface Joint {
  readonly estimate: JointEstimate;
  readonly correction: Correction;
  readonly onGroups: EstimateOn;
  /** where the cells are a multiple of FOLD_CELLS */
  readonly onFolds: () => EstimateOn;
}

/** The estimate on the users of the cells that `belongs` selects, under a correction. */
type EstimateUnder = (
  correction: Correction,
) => (belongs: (cell: number) => boolean, setting: Setting) => JointEstimate | null;

/** The conversions and unpaid visits of each paid channel's touches; `scale` as in Setting. */
function paidTotals(
  { kappa, sources, touches, lift, pull }: JointEstimate,
  { isBaseline, scale }: Setting,
): PaidTotals {
  const ofPaid = (perTouch: Float64Array, least: number): Float64Array =>
    perTouch.map((each, c) => (isBaseline[c] === 1 ? 0 : Math.max(least, each) * touches[c]! * scale));
  const doubt = sources.whole === null || sources.late === null ? 0 : sources.whole - sources.late;
  return { kappa, doubt, lift: ofPaid(lift, -Infinity), pull: ofPaid(pull, 0) };
}

type EvidenceOf = (belongs: (cell: number) => boolean) => HazardEvidence;

/** Every set of cells is added up and solved once, however often its users are asked about. */
function rememberedEvidence(hazards: HazardSums, throwIfCancelled: () => void): EvidenceOf {
  const known = new Map<string, HazardEvidence>();
  return (belongs) => {
    const members = Array.from({ length: hazards.cells }, (_, cell) => (belongs(cell) ? '1' : '0')).join('');
    const evidence = known.get(members) ?? evidenceOfCells(hazards, belongs, throwIfCancelled);
    known.set(members, evidence);
    return evidence;
  };
}

/**
 * What the users together settle: halo, what κ the paid channels bear, and how effects wear off. null where there is no
 * estimate.
 */
function settle(
  estimateUnder: EstimateUnder,
  evidenceOf: EvidenceOf,
  halo: Float64Array,
  calendar: TouchCalendar,
  { isBaseline, groups, horizonS }: RunOptions,
): Correction | null {
  const everyone = (): boolean => true;
  const without = Array.from(
    { length: groups },
    (_, group) =>
      (cell: number): boolean =>
        cell !== group,
  );
  const plainly = estimateUnder({ halo, restraint: 1, stock: null });
  const whole = { isBaseline, scale: 1, fallbackKappa: null };
  const first = plainly(everyone, whole);
  if (first === null) return null;
  const part = { isBaseline, scale: groups / (groups - 1), fallbackKappa: first.kappa };
  const all = paidTotals(first, whole);
  const parts = without.map((belongs) => {
    const estimate = plainly(belongs, part);
    // A set of users that gives no answer stands for no deviation from the whole.
    return estimate === null ? all : paidTotals(estimate, part);
  });
  const restraint = restraintOf(all, parts);
  const kappa = restraint * first.kappa;
  const ratioOn = (evidence: HazardEvidence): number => {
    const halves = effectsByHalf(evidence, { halo, kappa }, isBaseline);
    return halves === null || halves.early <= 0 ? 0 : halves.late / halves.early;
  };
  const evidence = evidenceOf(everyone);
  const ratioError = jackknifeError(
    Float64Array.from(without, (belongs) => ratioOn(evidenceOf(belongs))),
    groups,
  );
  return {
    halo,
    restraint,
    stock: adStockOf(ratioOn(evidence), ratioError, calendar, evidence.touches, horizonS / DAY_S),
  };
}

/** Whether overlapping touches can be told apart, as far as the size of the sample goes. */
export function sampleFor(
  events: EventTable,
  options: RunOptions,
  conversions: number,
): 'fits' | 'too few users or conversions' | 'too many channels' {
  if (
    usersBefore(events, estimationEnd(options) - options.horizonS) < JOINT_FROM_USERS ||
    conversions < JOINT_FROM_CONVERSIONS
  )
    return 'too few users or conversions';
  return events.channels.length > JOINT_TO_CHANNELS ? 'too many channels' : 'fits';
}

/**
 * `sums` and, by jackknife group, `byGroup` and `flanks` are the plain sums of the same users. null where placebos give
 * no κ.
 */
export function estimateJointly(
  events: EventTable,
  options: RunOptions,
  byGroup: CellSums,
  flanks: VisitFlanks,
  sums: CellSums,
  checkpoint: Checkpoint,
): Joint | null {
  const { isBaseline, groups, placeboWindowS } = options;
  const hazards = sumHazards(events, options, sums.cells, checkpoint);
  const throwIfCancelled = (): void => checkpoint(1);
  const hazardsByGroup = regroupHazards(hazards, groups, throwIfCancelled);
  const evidenceByGroup = rememberedEvidence(hazardsByGroup, throwIfCancelled);
  const under =
    (sums: CellSums, evidenceOf: EvidenceOf): EstimateUnder =>
    (correction) =>
    (belongs, setting) => {
      const [plain, evidence] = [sumOfCells(sums, belongs), evidenceOf(belongs)];
      throwIfCancelled();
      const estimate = adjustJointly(plain, evidence, correction, setting);
      throwIfCancelled();
      return estimate;
    };
  const halo = haloOf(flanks, isBaseline, placeboWindowS / DAY_S);
  const correction = settle(
    under(byGroup, evidenceByGroup),
    evidenceByGroup,
    halo,
    touchCalendar(events, options),
    options,
  );
  if (correction === null) return null;
  const onGroups = under(byGroup, evidenceByGroup)(correction);
  const estimate = onGroups(() => true, { isBaseline, scale: 1, fallbackKappa: null });
  const onFolds = (): EstimateOn => {
    const hazardsByFold = regroupHazards(hazards, FOLD_CELLS, throwIfCancelled);
    return under(regroup(sums, FOLD_CELLS), rememberedEvidence(hazardsByFold, throwIfCancelled))(correction);
  };
  return estimate === null ? null : { estimate, correction, onGroups, onFolds };
}
