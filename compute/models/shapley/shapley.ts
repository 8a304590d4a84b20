import type { PathTable } from '../../journey-tables.ts';
import { RandomGroups } from '../../numerics/random-groups.ts';
import { insufficientData } from '../../outcome.ts';
import type { Checkpoint, Failure } from '../../outcome.ts';
import { channelSets, orderDeviation } from '../channel-sets.ts';
import type { ChannelSets } from '../channel-sets.ts';
import { creditIntervals, deleteEachGroup, JOURNEY_GROUPS, noIntervals } from '../credit-intervals.ts';
import type { CreditIntervals, Replication } from '../credit-intervals.ts';
import { sharesOf, totalsOf } from '../credits.ts';
import type { ShapleyResult } from './shapley-result.ts';

/**
 * Exact Shapley values of the game v(S) = conversions (revenue) of the journeys whose channels all lie in S.
 * The converting journeys are the game's Harsanyi dividends, so each is split equally among its distinct channels
 * (Harsanyi 1963): linear time for any number of channels.
 */
export function runShapley(
  table: PathTable,
  replication: Replication,
  checkpoint: Checkpoint,
): ShapleyResult | Failure {
  const { channels } = table;
  const totals = totalsOf(table);
  if (totals.paths === 0) return insufficientData('There are no journeys with a touch in this range.');
  if (totals.conversions === 0)
    return insufficientData('No journey with a touch converted in this range, so there is nothing to divide.');
  const sets = channelSets(table, 'converting', checkpoint);
  const conversions = new Float64Array(channels.length);
  const value = new Float64Array(channels.length);
  for (let s = 0; s < sets.count; s++) {
    const first = sets.offsets[s]!;
    const end = sets.offsets[s + 1]!;
    for (let m = first; m < end; m++) {
      conversions[sets.members[m]!]! += sets.conversions[s]! / (end - first);
      value[sets.members[m]!]! += sets.value[s]! / (end - first);
    }
  }
  const intervals = (): CreditIntervals => {
    const byGroup = dividendsByGroup(sets, channels.length, replication.seed);
    return creditIntervals(value, deleteEachGroup(byGroup, JOURNEY_GROUPS, value), JOURNEY_GROUPS, replication);
  };
  return {
    ok: true,
    model: 'shapley',
    channels,
    totals,
    conversions,
    value,
    share: sharesOf(value, conversions),
    ...(replication.creditAlone === true ? noIntervals(value) : intervals()),
    warnings: [],
  };
}

/** Revenue credited to each channel by the journeys of each random group, groups × K. */
function dividendsByGroup(sets: ChannelSets, channels: number, seed: number): Float64Array {
  const groups = new RandomGroups(JOURNEY_GROUPS, seed);
  const sums = new Float64Array(JOURNEY_GROUPS * channels);
  for (let s = 0; s < sets.count; s++) {
    const first = sets.offsets[s]!;
    const end = sets.offsets[s + 1]!;
    const converted = sets.conversions[s]!;
    const earned = sets.value[s]!;
    // Revenue without a conversion stands for one observation.
    const observations = converted === 0 ? 1 : converted;
    groups.split(
      observations,
      earned / observations,
      orderDeviation(converted, earned, sets.squares[s]!),
      (group, _, amount) => {
        const row = group * channels;
        for (let m = first; m < end; m++) sums[row + sets.members[m]!]! += amount / (end - first);
      },
    );
  }
  return sums;
}
