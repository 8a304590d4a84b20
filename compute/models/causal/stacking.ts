import { simplexLeastSquares, simplexObjective } from '../../numerics/simplex-least-squares.ts';
import type { SimplexProblem } from '../../numerics/simplex-least-squares.ts';
import type { PravFolds } from '../prav/prav-result.ts';
import { sumOf } from '../credits.ts';
import { CAUSAL_MEMBERS } from './causal-result.ts';
import type { CausalMember } from './causal-result.ts';

/** Each member's shares of the credit to paid channels, per channel; members without an answer are absent. */
export type MemberShares = Partial<Record<CausalMember, Float64Array>>;
/** Weight of each member; they sum to 1. */
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
 * Stacking (Wolpert 1992; Breiman 1996) on held-out placebo-adjusted lift: weights on the simplex that minimise Σ over
 * folds and channels of ((Σ_m w_m·share_m·T_fold − target) / error)², T_fold = sum of the fold's positive targets. Each
 * member predicts by its shares, PRAV by those learned on the other folds. null where no fold holds a usable target.
 * `cautious`: the mixture must beat PRAV alone by more than one standard error over the folds (Breiman's rule), or PRAV
 * stands alone.
 */
export function stackedWeights(
  shares: MemberShares,
  folds: PravFolds,
  channels: number,
  cautious: boolean,
): MemberWeights | null {
  const members = CAUSAL_MEMBERS.filter((member) => shares[member] !== undefined);
  const size = members.length;
  const predicted = new Float64Array(size);
  const problems: SimplexProblem[] = [];
  const whole = { gram: new Float64Array(size * size), projection: new Float64Array(size) };
  for (let fold = 0; fold < folds.folds; fold++) {
    const row = fold * channels;
    const total = sumOf(folds.target.slice(row, row + channels).map((target) => Math.max(0, target)));
    const gram = new Float64Array(size * size);
    const projection = new Float64Array(size);
    let usable = false;
    for (let c = 0; c < channels; c++) {
      const error = folds.error[row + c]!;
      // No error means no touches here (or a single user's): nothing that could be weighed by its precision.
      if (error === 0 || total === 0) continue;
      usable = true;
      members.forEach(
        (member, m) =>
          (predicted[m] = ((member === 'prav' ? folds.share[row + c]! : shares[member]![c]!) * total) / error),
      );
      for (let m = 0; m < size; m++) {
        projection[m]! += (predicted[m]! * folds.target[row + c]!) / error;
        for (let n = 0; n < size; n++) gram[m * size + n]! += predicted[m]! * predicted[n]!;
      }
    }
    if (!usable) continue;
    problems.push({ gram, projection });
    gram.forEach((part, i) => (whole.gram[i]! += part));
    projection.forEach((part, i) => (whole.projection[i]! += part));
  }
  if (problems.length === 0) return null;
  const mixture = simplexLeastSquares(whole);
  const alone = Float64Array.from(members, (member) => (member === 'prav' ? 1 : 0));
  const solved = cautious && sumOf(alone) === 1 && !isClearlyBetter(problems, mixture, alone) ? alone : mixture;
  const weights = noWeights();
  members.forEach((member, m) => (weights[member] = solved[m]!));
  return weights;
}

/** Whether the mean gain over the folds exceeds its standard error. */
function isClearlyBetter(problems: readonly SimplexProblem[], mixture: Float64Array, alone: Float64Array): boolean {
  const gains = problems.map((problem) => simplexObjective(problem, alone) - simplexObjective(problem, mixture));
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  const squares = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0);
  return gains.length > 1 && mean > Math.sqrt(squares / (gains.length - 1) / gains.length);
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
