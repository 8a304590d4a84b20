import type { PathTable } from '../journey-tables.ts';
import type { PathTotals } from '../outcome.ts';

/**
 * Paths worked through between two checks of the cancel flag: some microseconds each, milliseconds where every path has
 * a thousand touches.
 */
export const PATHS_PER_CHECK = 1_024;

/** Counts of all non-empty paths. */
export function totalsOf({ offsets, conversions, value, nulls }: PathTable): PathTotals {
  const totals = { paths: 0, conversions: 0, value: 0, nulls: 0 };
  for (let p = 0; p < conversions.length; p++) {
    if (offsets[p] === offsets[p + 1]) continue;
    totals.paths++;
    totals.conversions += conversions[p]!;
    totals.value += value[p]!;
    totals.nulls += nulls[p]!;
  }
  return totals;
}

/** Plain sum, in the order of the array: the same bits on every run. */
export function sumOf(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum;
}

/** weights / Σ weights · total; all 0 where the weights sum to nothing. */
export function divide(weights: Float64Array, total: number): Float64Array {
  const sum = sumOf(weights);
  return sum === 0 ? new Float64Array(weights.length) : weights.map((weight) => (weight / sum) * total);
}

/** Non-negative shares that sum to 1: of the first list of amounts that has anything positive. All 0 where none has. */
export function sharesOf(...amounts: readonly Float64Array[]): Float64Array {
  for (const list of amounts) {
    const positive = list.map((amount) => Math.max(0, amount));
    if (sumOf(positive) > 0) return divide(positive, 1);
  }
  return new Float64Array(amounts[0]?.length ?? 0);
}
