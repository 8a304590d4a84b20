import type { PathTable } from '../journey-tables.ts';
import type { Checkpoint } from '../outcome.ts';
import { PATHS_PER_CHECK } from './credits.ts';

/** Sums over journeys with a touch. */
export interface PresenceSums {
  /** journeys in which both channels occur, K × K; the diagonal counts single channels */
  readonly pairs: Float64Array;
  /** conversions, and their revenue, of the journeys in which the channel occurs */
  readonly conversions: Float64Array;
  readonly value: Float64Array;
}

/** Up to here one table entry per channel set is small (2 MB) and beats a pair loop per path. */
const MOST_CHANNELS_BY_SET = 16;

/** Counts and revenue of journeys by the channels, and the pairs of channels, that are present in them. */
export function sumPresence(table: PathTable, checkpoint: Checkpoint): PresenceSums {
  const size = table.channels.length;
  const sums: PresenceSums = { pairs: new Float64Array(size * size), conversions: new Float64Array(size), value: new Float64Array(size) };
  if (size <= MOST_CHANNELS_BY_SET) sumBySet(table, sums, checkpoint);
  else sumByPair(table, sums, checkpoint);
  return sums;
}

function addSet(sums: PresenceSums, members: Uint16Array, count: number, journeys: number, conversions: number, value: number): void {
  const size = sums.conversions.length;
  for (let a = 0; a < count; a++) {
    const channel = members[a]!;
    sums.conversions[channel]! += conversions;
    sums.value[channel]! += value;
    const row = channel * size;
    for (let b = 0; b < count; b++) sums.pairs[row + members[b]!]! += journeys;
  }
}

/** Few channels: paths are first added up by the set of their channels, a bit mask. */
function sumBySet({ channels, offsets, steps, conversions, value, nulls }: PathTable, sums: PresenceSums, checkpoint: Checkpoint): void {
  const sets = 2 ** channels.length;
  const journeysOf = new Float64Array(sets);
  const conversionsOf = new Float64Array(sets);
  const valueOf = new Float64Array(sets);
  const paths = conversions.length;
  for (let p = 0; p < paths; p++) {
    if (p % PATHS_PER_CHECK === 0) checkpoint(p / paths);
    let set = 0;
    for (let i = offsets[p]!, end = offsets[p + 1]!; i < end; i++) set |= 1 << steps[i]!;
    const converted = conversions[p]!;
    journeysOf[set]! += converted + nulls[p]!;
    if (converted === 0) continue;
    conversionsOf[set]! += converted;
    valueOf[set]! += value[p]!;
  }
  const members = new Uint16Array(channels.length);
  for (let set = 1; set < sets; set++) {
    if (journeysOf[set] === 0) continue;
    let count = 0;
    for (let channel = 0; channel < channels.length; channel++) if ((set >> channel) & 1) members[count++] = channel;
    addSet(sums, members, count, journeysOf[set]!, conversionsOf[set]!, valueOf[set]!);
  }
}

function sumByPair({ channels, offsets, steps, conversions, value, nulls }: PathTable, sums: PresenceSums, checkpoint: Checkpoint): void {
  const lastPathWith = new Uint32Array(channels.length);
  const distinct = new Uint16Array(channels.length);
  const paths = conversions.length;
  for (let p = 0; p < paths; p++) {
    if (p % PATHS_PER_CHECK === 0) checkpoint(p / paths);
    const converted = conversions[p]!;
    let count = 0;
    for (let i = offsets[p]!, end = offsets[p + 1]!; i < end; i++) {
      const channel = steps[i]!;
      if (lastPathWith[channel] === p + 1) continue;
      lastPathWith[channel] = p + 1;
      distinct[count++] = channel;
    }
    addSet(sums, distinct, count, converted + nulls[p]!, converted, converted === 0 ? 0 : value[p]!);
  }
}
