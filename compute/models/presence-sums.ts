import { RandomGroups } from '../numerics/random-groups.ts';
import { orderDeviation } from './channel-sets.ts';
import type { ChannelSets } from './channel-sets.ts';
import { PATHS_PER_CHECK } from './credits.ts';

/** Sums over journeys with a touch. */
export interface PresenceSums {
  /** journeys in which both channels occur, K × K, in the upper triangle; the diagonal counts single channels */
  readonly pairs: Float64Array;
  /** conversions, and their revenue, of the journeys in which the channel occurs */
  readonly conversions: Float64Array;
  readonly value: Float64Array;
  /** of all journeys, by `PresenceTotal` */
  readonly totals: Float64Array;
}

/** Entries of `totals`. */
export const PresenceTotal = { journeys: 0, conversions: 1, nulls: 2, value: 3 } as const;
const TOTALS = 4;

const emptySums = (channels: number, rows = 1): PresenceSums => ({
  pairs: new Float64Array(rows * channels * channels),
  conversions: new Float64Array(rows * channels),
  value: new Float64Array(rows * channels),
  totals: new Float64Array(rows * TOTALS),
});

/** Adds journeys with these members to row `row` of `sums`. */
function addJourneys(
  sums: PresenceSums,
  row: number,
  channels: number,
  members: Uint16Array,
  first: number,
  end: number,
  conversions: number,
  nulls: number,
  value: number,
): void {
  const { totals } = sums;
  const journeys = conversions + nulls;
  totals[row * TOTALS + PresenceTotal.journeys]! += journeys;
  totals[row * TOTALS + PresenceTotal.conversions]! += conversions;
  totals[row * TOTALS + PresenceTotal.nulls]! += nulls;
  totals[row * TOTALS + PresenceTotal.value]! += value;
  for (let a = first; a < end; a++) {
    const column = row * channels + members[a]!;
    sums.conversions[column]! += conversions;
    sums.value[column]! += value;
    for (let b = a; b < end; b++) sums.pairs[column * channels + members[b]!]! += journeys;
  }
}

/**
 * Counts and revenue of journeys by the channels, and the pairs of channels, that are present in them.
 * `throwIfCancelled` ends a task that was cancelled.
 */
export function sumPresence(sets: ChannelSets, channels: number, throwIfCancelled: () => void): PresenceSums {
  const sums = emptySums(channels);
  for (let s = 0; s < sets.count; s++) {
    if (s % PATHS_PER_CHECK === 0) throwIfCancelled();
    addJourneys(
      sums,
      0,
      channels,
      sets.members,
      sets.offsets[s]!,
      sets.offsets[s + 1]!,
      sets.conversions[s]!,
      sets.nulls[s]!,
      sets.value[s]!,
    );
  }
  return sums;
}

/** The same with the journeys divided among random groups: one row per group. */
export function sumPresenceByGroup(
  sets: ChannelSets,
  channels: number,
  groups: number,
  seed: number,
  throwIfCancelled: () => void,
): PresenceSums {
  const random = new RandomGroups(groups, seed);
  const sums = emptySums(channels, groups);
  for (let s = 0; s < sets.count; s++) {
    if (s % PATHS_PER_CHECK === 0) throwIfCancelled();
    const first = sets.offsets[s]!;
    const end = sets.offsets[s + 1]!;
    const converted = sets.conversions[s]!;
    const earned = sets.value[s]!;
    if (converted > 0) {
      random.split(
        converted,
        earned / converted,
        orderDeviation(converted, earned, sets.squares[s]!),
        (group, count, value) => addJourneys(sums, group, channels, sets.members, first, end, count, 0, value),
      );
    }
    if (sets.nulls[s]! > 0)
      random.split(sets.nulls[s]!, 0, 0, (group, count) =>
        addJourneys(sums, group, channels, sets.members, first, end, 0, count, 0),
      );
  }
  return sums;
}

/** Row `row` of sums by group. */
export function presenceRow(sums: PresenceSums, channels: number, row: number): PresenceSums {
  const part = (column: Float64Array, width: number): Float64Array => column.subarray(row * width, (row + 1) * width);
  return {
    pairs: part(sums.pairs, channels * channels),
    conversions: part(sums.conversions, channels),
    value: part(sums.value, channels),
    totals: part(sums.totals, TOTALS),
  };
}
