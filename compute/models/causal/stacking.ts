import { simplexLeastSquares } from '../../numerics/simplex-least-squares.ts';
import type { PravFolds } from '../prav/prav-result.ts';
import { sumOf } from '../credits.ts';
import { CAUSAL_MEMBERS } from './causal-result.ts';
import type { CausalMember } from './causal-result.ts';

export type MemberShares = Partial<Record<CausalMember, Float64Array>>;
export type MemberWeights = Record<CausalMember, number>;

/** Published weights for data without placebos, where nothing can be learned. */
const PRIOR: MemberWeights = { markov: 0.45, shapley: 0.45, dominance: 0.05, rwa: 0.05, prav: 0 };

const noWeights = (): MemberWeights => ({ markov: 0, shapley: 0, dominance: 0, rwa: 0, prav: 0 });

/** The prior weights of the members that ran, scaled to sum 1. */
export function priorWeights(shares: MemberShares): MemberWeights {
  const weights = noWeights();
  const present = CAUSAL_MEMBERS.filter((member) => shares[member] !== undefined);
  const sum = present.reduce((total, member) => total + PRIOR[member], 0);
  for (const member of present) weights[member] = sum === 0 ? 0 : PRIOR[member] / sum;
  return weights;
}

/**
 * Stacking (Wolpert 1992; Breiman 1996) on held-out placebo-adjusted lift: weights on the simplex that minimise
 * Σ over folds and channels of ((Σ_m w_m·share_m·T_fold − target) / error)², T_fold = sum of the fold's positive targets.
 * Each member predicts by its shares, PRAV by those learned on the other folds. null where no fold holds a usable target.
 */
export function stackedWeights(shares: MemberShares, folds: PravFolds, channels: number): MemberWeights | null {
  const members = CAUSAL_MEMBERS.filter((member) => shares[member] !== undefined);
  const size = members.length;
  const gram = new Float64Array(size * size);
  const projection = new Float64Array(size);
  const predicted = new Float64Array(size);
  let usable = false;
  for (let fold = 0; fold < folds.folds; fold++) {
    const row = fold * channels;
    const total = sumOf(folds.target.slice(row, row + channels).map((target) => Math.max(0, target)));
    for (let c = 0; c < channels; c++) {
      const error = folds.error[row + c]!;
      // No error means no touches here (or a single user's): nothing that could be weighed by its precision.
      if (error === 0 || total === 0) continue;
      usable = true;
      members.forEach((member, m) => (predicted[m] = ((member === 'prav' ? folds.share[row + c]! : shares[member]![c]!) * total) / error));
      for (let m = 0; m < size; m++) {
        projection[m]! += (predicted[m]! * folds.target[row + c]!) / error;
        for (let n = 0; n < size; n++) gram[m * size + n]! += predicted[m]! * predicted[n]!;
      }
    }
  }
  if (!usable) return null;
  const solved = simplexLeastSquares({ gram, projection });
  const weights = noWeights();
  members.forEach((member, m) => (weights[member] = solved[m]!));
  return weights;
}

/** Σ_m w_m · share_m. */
export function blend(shares: MemberShares, weights: MemberWeights, channels: number): Float64Array {
  const blended = new Float64Array(channels);
  for (const member of CAUSAL_MEMBERS) {
    const share = shares[member];
    if (share === undefined || weights[member] === 0) continue;
    for (let c = 0; c < channels; c++) blended[c]! += weights[member] * share[c]!;
  }
  return blended;
}
