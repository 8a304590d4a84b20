import type { PathTable } from '../../journey-tables.ts';
import type { Checkpoint } from '../../outcome.ts';
import { PATHS_PER_CHECK, totalsOf } from '../credits.ts';
import type { ComparisonResult } from './comparison-result.ts';
import { HALF_LIFE_DAYS, RuleSums } from './rule-sums.ts';

/** The comparison rules on aggregated paths: for time decay one step counts as one day. */
export function compareOnPaths(
  table: PathTable,
  unattributed: { readonly conversions: number; readonly value: number },
  checkpoint: Checkpoint,
): ComparisonResult {
  const { offsets, steps, conversions, value } = table;
  const sums = new RuleSums(table.channels);
  const paths = conversions.length;
  let longest = 0;
  for (let p = 0; p < paths; p++) longest = Math.max(longest, offsets[p + 1]! - offsets[p]!);
  // decay[a] for a touch `a` steps before the last, and its running sums: weights need no pow per step.
  const decay = Float64Array.from({ length: longest }, (_, steps) => 2 ** (-steps / HALF_LIFE_DAYS));
  for (let p = 0; p < paths; p++) {
    if (p % PATHS_PER_CHECK === 0) checkpoint(p / paths);
    const first = offsets[p]!;
    const end = offsets[p + 1]!;
    if (first === end || (conversions[p] === 0 && value[p] === 0)) continue;
    sums.addEnds(steps, first, end, conversions[p]!, value[p]!);
    let whole = 0;
    for (let a = end - first - 1; a >= 0; a--) whole += decay[a]!;
    for (let i = first; i < end; i++)
      sums.addDecayed(steps[i]!, decay[end - 1 - i]! / whole, conversions[p]!, value[p]!);
  }
  const totals = totalsOf(table);
  return sums.result({ conversions: totals.conversions, value: totals.value }, unattributed);
}
