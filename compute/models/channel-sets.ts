import type { PathTable } from '../journey-tables.ts';
import { KeyIndex, Sums } from '../numerics/key-index.ts';
import type { Checkpoint } from '../outcome.ts';
import { PATHS_PER_CHECK } from './credits.ts';

/**
 * Journeys by the set of channels that occur in them: all that Shapley values, dominance and relative weights look at.
 * Set s has the channels `members[offsets[s] .. offsets[s + 1])`, in ascending order.
 */
export interface ChannelSets {
  readonly count: number;
  readonly offsets: Uint32Array;
  readonly members: Uint16Array;
  readonly conversions: Float64Array;
  readonly nulls: Float64Array;
  readonly value: Float64Array;
  /** Σ of squared order values; orders of one path count as equal where the table does not tell them apart */
  readonly squares: Float64Array;
}

/** Up to here the set's mask of bits is its place in tables of 2 MB at most. */
const MOST_CHANNELS_BY_PLACE = 16;
/** A mask of this many bits at most is a number without rounding. */
const MOST_CHANNELS_BY_MASK = 52;

/** Standard deviation of the order values of a set or path: Σv² / c − mean², 0 where that is rounding. */
export function orderDeviation(conversions: number, value: number, squares: number): number {
  if (conversions <= 1) return 0;
  const mean = value / conversions;
  const variance = squares / conversions - mean * mean;
  return variance > 1e-12 * mean * mean ? Math.sqrt(variance) : 0;
}

/**
 * What of the journeys is looked at: `all`, their revenue being that of conversions; or `converting`, with whatever
 * revenue the table holds.
 */
export type JourneyKind = 'all' | 'converting';

/** Adds up paths with a touch by their channel set. Above 52 channels every path stays a set of its own. */
export function channelSets(table: PathTable, kind: JourneyKind, checkpoint: Checkpoint): ChannelSets {
  return table.channels.length <= MOST_CHANNELS_BY_PLACE
    ? setsByPlace(table, kind, checkpoint)
    : setsByIndex(table, kind, checkpoint);
}

function setsByPlace(
  { channels, offsets, steps, conversions, value, nulls, valueSquares }: PathTable,
  kind: JourneyKind,
  checkpoint: Checkpoint,
): ChannelSets {
  const onlyConverting = kind === 'converting';
  const places = 2 ** channels.length;
  const columns = {
    conversions: new Float64Array(places),
    nulls: new Float64Array(places),
    value: new Float64Array(places),
    squares: new Float64Array(places),
  };
  const occurs = new Uint8Array(places);
  for (let p = 0; p < conversions.length; p++) {
    if (p % PATHS_PER_CHECK === 0) checkpoint(p / conversions.length);
    const converted = conversions[p]!;
    const earned = onlyConverting || converted > 0 ? value[p]! : 0;
    if (onlyConverting && converted === 0 && earned === 0) continue;
    let set = 0;
    for (let i = offsets[p]!, end = offsets[p + 1]!; i < end; i++) set |= 1 << steps[i]!;
    occurs[set] = 1;
    columns.nulls[set]! += nulls[p]!;
    if (converted === 0 && earned === 0) continue;
    columns.conversions[set]! += converted;
    columns.value[set]! += earned;
    columns.squares[set]! += valueSquares === undefined ? (earned * earned) / Math.max(1, converted) : valueSquares[p]!;
  }
  // The empty set has no touch.
  const sets = Int32Array.from(occurs.keys()).filter((set) => set > 0 && occurs[set] === 1);
  const members = new GrowingMembers();
  const distinct = new Uint16Array(channels.length);
  for (const set of sets) {
    let count = 0;
    for (let channel = 0; channel < channels.length; channel++) if ((set >> channel) & 1) distinct[count++] = channel;
    members.add(distinct.subarray(0, count));
  }
  const kept = (column: Float64Array): Float64Array => Float64Array.from(sets, (set) => column[set]!);
  return {
    ...members.done(),
    conversions: kept(columns.conversions),
    nulls: kept(columns.nulls),
    value: kept(columns.value),
    squares: kept(columns.squares),
  };
}

function setsByIndex(
  { channels, offsets, steps, conversions, value, nulls, valueSquares }: PathTable,
  kind: JourneyKind,
  checkpoint: Checkpoint,
): ChannelSets {
  const onlyConverting = kind === 'converting';
  const byMask = channels.length <= MOST_CHANNELS_BY_MASK;
  const index = new KeyIndex(byMask ? 2 ** channels.length : 1);
  const columns = { conversions: new Sums(), nulls: new Sums(), value: new Sums(), squares: new Sums() };
  const members = new GrowingMembers();
  const lastPathWith = new Uint32Array(channels.length);
  const distinct = new Uint16Array(channels.length);
  for (let p = 0; p < conversions.length; p++) {
    if (p % PATHS_PER_CHECK === 0) checkpoint(p / conversions.length);
    const converted = conversions[p]!;
    const earned = onlyConverting || converted > 0 ? value[p]! : 0;
    const first = offsets[p]!;
    const end = offsets[p + 1]!;
    if (first === end || (onlyConverting && converted === 0 && earned === 0)) continue;
    let count = 0;
    let mask = 0;
    for (let i = first; i < end; i++) {
      const channel = steps[i]!;
      if (lastPathWith[channel] === p + 1) continue;
      lastPathWith[channel] = p + 1;
      distinct[count++] = channel;
      mask += 2 ** channel;
    }
    const set = byMask ? index.numberOf(mask) : members.count;
    if (set === members.count) members.add(distinct.subarray(0, count).toSorted());
    columns.nulls.add(set, nulls[p]!);
    columns.conversions.add(set, converted);
    columns.value.add(set, earned);
    columns.squares.add(
      set,
      valueSquares === undefined || converted === 0 ? (earned * earned) / Math.max(1, converted) : valueSquares[p]!,
    );
  }
  const kept = (column: Sums): Float64Array => column.values.subarray(0, members.count);
  return {
    ...members.done(),
    conversions: kept(columns.conversions),
    nulls: kept(columns.nulls),
    value: kept(columns.value),
    squares: kept(columns.squares),
  };
}

class GrowingMembers {
  count = 0;
  private readonly ends = new Sums();
  private members = new Uint16Array(1 << 12);
  private length = 0;

  add(channels: Uint16Array): void {
    if (this.length + channels.length > this.members.length) {
      const members = new Uint16Array(2 * (this.length + channels.length));
      members.set(this.members);
      this.members = members;
    }
    this.members.set(channels, this.length);
    this.length += channels.length;
    this.ends.add(this.count++, this.length);
  }

  done(): Pick<ChannelSets, 'count' | 'offsets' | 'members'> {
    const offsets = new Uint32Array(this.count + 1);
    for (let s = 0; s < this.count; s++) offsets[s + 1] = this.ends.values[s]!;
    return { count: this.count, offsets, members: this.members.slice(0, this.length) };
  }
}
