import type { PresenceCorrelations } from '../channel-presence.ts';
import type { Checkpoint } from '../../outcome.ts';

/** General dominance per varying channel, for both outcomes. */
export interface DominanceWeights {
  readonly conversion: Float64Array;
  readonly value: Float64Array;
  readonly conversionError: Float64Array;
  readonly valueError: Float64Array;
  readonly evaluations: number;
}

/** A channel explained to this fraction by those before it adds nothing: the pseudo-inverse's relative cut-off. */
export const COLLINEAR = 1e-10;

/** Subtrees of this height are walked between two checks of the cancel flag. */
const HEIGHT_PER_CHECK = 12;

/**
 * General dominance (Budescu 1993) = Shapley value of R²(S), over all 2^m subsets.
 *
 * The subsets are the leaves of a binary tree that takes or leaves one channel per level. Taking channel i sweeps it
 * out of the channels still open (one Schur complement), so R²(S ∪ i) = R²(S) + c²/d with d the residual variance of i
 * given S and c its residual covariance with the outcome. Levels near the leaves sweep almost nothing: 2^m · O(1) in
 * all. A channel's weight is Σ over subsets with it of R²·(a + b) − Σ over all subsets of R²·b, with the Shapley
 * coefficients a = 1/(m·C(m−1, s−1)), b = 1/(m·C(m−1, s)); the first sum falls out of the subtree totals.
 */
export function exactDominance(
  { varying, between, withConversion, withValue }: PresenceCorrelations,
  checkpoint: Checkpoint,
): DominanceWeights {
  const m = varying.length;
  const { inside, outside } = shapleyCoefficients(m);
  const levels = Array.from({ length: m + 1 }, () => new Float64Array(m * m));
  const conversionLevels = Array.from({ length: m + 1 }, () => new Float64Array(m));
  const valueLevels = Array.from({ length: m + 1 }, () => new Float64Array(m));
  const conversion = new Float64Array(m);
  const value = new Float64Array(m);
  let conversionOutside = 0;
  let valueOutside = 0;
  // Totals of the subtree that was walked last: two numbers are returned without an allocation.
  let conversionTotal = 0;
  let valueTotal = 0;
  let checks = 0;
  const checksInAll = 2 ** Math.max(0, m - HEIGHT_PER_CHECK);

  const walk = (
    depth: number,
    taken: number,
    matrix: Float64Array,
    c: Float64Array,
    v: Float64Array,
    r2c: number,
    r2v: number,
  ): void => {
    if (depth === m) {
      conversionTotal = r2c * (inside[taken]! + outside[taken]!);
      valueTotal = r2v * (inside[taken]! + outside[taken]!);
      conversionOutside += r2c * outside[taken]!;
      valueOutside += r2v * outside[taken]!;
      return;
    }
    if (m - depth === HEIGHT_PER_CHECK) checkpoint(checks++ / checksInAll);
    walk(depth + 1, taken, matrix, c, v, r2c, r2v);
    const conversionWithout = conversionTotal;
    const valueWithout = valueTotal;
    const row = depth * m;
    const pivot = matrix[row + depth]!;
    if (pivot <= COLLINEAR) walk(depth + 1, taken + 1, matrix, c, v, r2c, r2v);
    else {
      const next = levels[depth + 1]!;
      const nextC = conversionLevels[depth + 1]!;
      const nextV = valueLevels[depth + 1]!;
      const cHere = c[depth]!;
      const vHere = v[depth]!;
      for (let i = depth + 1; i < m; i++) {
        const factor = matrix[row + i]! / pivot;
        nextC[i] = c[i]! - factor * cHere;
        nextV[i] = v[i]! - factor * vHere;
        for (let j = i; j < m; j++) next[i * m + j] = matrix[i * m + j]! - factor * matrix[row + j]!;
      }
      walk(depth + 1, taken + 1, next, nextC, nextV, r2c + (cHere * cHere) / pivot, r2v + (vHere * vHere) / pivot);
    }
    conversion[depth]! += conversionTotal;
    value[depth]! += valueTotal;
    conversionTotal += conversionWithout;
    valueTotal += valueWithout;
  };

  if (m > 0) walk(0, 0, between, withConversion, withValue, 0, 0);
  return {
    conversion: conversion.map((sum) => Math.max(0, sum - conversionOutside)),
    value: value.map((sum) => Math.max(0, sum - valueOutside)),
    conversionError: new Float64Array(m),
    valueError: new Float64Array(m),
    evaluations: 2 ** m,
  };
}

/** Per subset size s: weight of a subset in the sums of its members (inside) and of the others (outside). */
function shapleyCoefficients(m: number): { inside: Float64Array; outside: Float64Array } {
  const inside = new Float64Array(m + 1);
  const outside = new Float64Array(m + 1);
  let choose = 1; // C(m − 1, s)
  for (let s = 0; s < m; s++) {
    outside[s] = 1 / (m * choose);
    inside[s + 1] = 1 / (m * choose);
    choose = (choose * (m - 1 - s)) / (s + 1);
  }
  return { inside, outside };
}
