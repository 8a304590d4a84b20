import type { PathTable } from '../../journey-tables.ts';
import { insufficientData } from '../../outcome.ts';
import type { Checkpoint, Failure } from '../../outcome.ts';
import { PATHS_PER_CHECK, sharesOf, totalsOf } from '../credits.ts';
import type { ShapleyResult } from './shapley-result.ts';

/**
 * Exact Shapley values of the game v(S) = conversions (revenue) of the journeys whose channels all lie in S.
 * The converting journeys are the game's Harsanyi dividends, so each is split equally among its distinct channels
 * (Harsanyi 1963): linear time for any number of channels.
 */
export function runShapley(table: PathTable, checkpoint: Checkpoint): ShapleyResult | Failure {
  const { channels, offsets, steps } = table;
  const totals = totalsOf(table);
  if (totals.paths === 0) return insufficientData('There are no journeys with a touch in this range.');
  if (totals.conversions === 0) return insufficientData('No journey with a touch converted in this range, so there is nothing to divide.');
  const conversions = new Float64Array(channels.length);
  const value = new Float64Array(channels.length);
  const lastPathWith = new Uint32Array(channels.length);
  const distinct = new Uint16Array(channels.length);
  const paths = table.conversions.length;
  for (let p = 0; p < paths; p++) {
    if (p % PATHS_PER_CHECK === 0) checkpoint(p / paths);
    const converted = table.conversions[p]!;
    const earned = table.value[p]!;
    if (converted === 0 && earned === 0) continue;
    let members = 0;
    for (let i = offsets[p]!; i < offsets[p + 1]!; i++) {
      const channel = steps[i]!;
      if (lastPathWith[channel] === p + 1) continue;
      lastPathWith[channel] = p + 1;
      distinct[members++] = channel;
    }
    for (let m = 0; m < members; m++) {
      conversions[distinct[m]!]! += converted / members;
      value[distinct[m]!]! += earned / members;
    }
  }
  return { ok: true, model: 'shapley', channels, totals, conversions, value, share: sharesOf(value, conversions), warnings: [] };
}
