import { jackknifeError } from '../../numerics/jackknife.ts';
import { sharesOf } from '../credits.ts';
import type { EstimateOn } from './placebo-adjustment.ts';
import type { PravFolds } from './prav-result.ts';

const FOLDS = 5;
const GROUPS_PER_FOLD = 25;
/** Users are numbered hash mod 125: fold = number mod 5, group within the fold = the rest. */
export const FOLD_CELLS = FOLDS * GROUPS_PER_FOLD;

/**
 * Held-out targets for the causal model's stacking: PRAV's signed revenue on each fold, its grouped jackknife error
 * there, and the shares PRAV learns on the other folds. `estimateOn` numbers FOLD_CELLS cells. `kappa` stands in where
 * a fold's placebos show no pull.
 */
export function estimateFolds(estimateOn: EstimateOn, isBaseline: Uint8Array, kappa: number): PravFolds {
  const channels = isBaseline.length;
  const target = new Float64Array(FOLDS * channels);
  const error = new Float64Array(FOLDS * channels);
  const share = new Float64Array(FOLDS * channels);
  const replicates = new Float64Array(GROUPS_PER_FOLD * channels);
  const foldOf = (cell: number): number => cell % FOLDS;
  const groupOf = (cell: number): number => Math.floor(cell / FOLDS);
  const whole = { isBaseline, scale: 1, fallbackKappa: kappa };
  const replicate = { isBaseline, scale: GROUPS_PER_FOLD / (GROUPS_PER_FOLD - 1), fallbackKappa: kappa };
  for (let fold = 0; fold < FOLDS; fold++) {
    const inside = estimateOn((cell) => foldOf(cell) === fold, whole);
    const outside = estimateOn((cell) => foldOf(cell) !== fold, whole);
    if (outside !== null) share.set(sharesOf(outside.incrementalRevenue), fold * channels);
    if (inside === null) continue;
    target.set(inside.signedRevenue, fold * channels);
    replicates.fill(0);
    for (let group = 0; group < GROUPS_PER_FOLD; group++) {
      const without = estimateOn((cell) => foldOf(cell) === fold && groupOf(cell) !== group, replicate);
      if (without !== null) replicates.set(without.signedRevenue, group * channels);
    }
    for (let c = 0; c < channels; c++)
      error[fold * channels + c] = jackknifeError(replicates, GROUPS_PER_FOLD, c, channels);
  }
  return { folds: FOLDS, target, error, share };
}
