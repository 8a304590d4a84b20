import { NO_CHANNEL } from '../../journey-tables.ts';
import type { EventTable } from '../../journey-tables.ts';
import type { Checkpoint } from '../../outcome.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';
import { estimationEnd } from './exposure-sums.ts';

/** Unpaid visits on either side of touches, per cell of users (cell = hash mod cells), row-major. */
export interface VisitFlanks {
  readonly cells: number;
  /** cells × channels: touches with a whole placebo window on both sides in sight, and visits in the two windows */
  readonly touches: Float64Array;
  readonly before: Float64Array;
  readonly after: Float64Array;
  /** per cell: unpaid visits and user-days in sight */
  readonly visitCount: Float64Array;
  readonly userDays: Float64Array;
  /** time of the first event of any user, seconds since the epoch */
  readonly dataStartS: number;
}

const USERS_PER_CHECK = 512;

/** Start of the data: the first event of any user. */
export function earliestEvent({ userStart, timeS }: EventTable): number {
  let start = Infinity;
  for (let user = 0; user + 1 < userStart.length; user++)
    if (userStart[user]! < userStart[user + 1]!) start = Math.min(start, timeS[userStart[user]!]!);
  return start;
}

/**
 * Counts, for each touch at t, the same user's unpaid visits in [t − g − w, t − g) and (t + g, t + g + w]: the gap g
 * leaves out the touch's own session. One pass, linear in the events: four pointers move along the user's visits.
 */
export function sumFlanks(table: EventTable, options: RunOptions, cells: number, checkpoint: Checkpoint): VisitFlanks {
  const { userStart, userHash, timeS, channel, conversion } = table;
  const { isBaseline, gapS, placeboWindowS } = options;
  const channels = table.channels.length;
  const touches = new Float64Array(cells * channels);
  const before = new Float64Array(cells * channels);
  const after = new Float64Array(cells * channels);
  const visitCount = new Float64Array(cells);
  const userDays = new Float64Array(cells);
  const end = estimationEnd(options);
  const dataStartS = earliestEvent(table);
  const [firstTouch, lastTouch] = [dataStartS + gapS + placeboWindowS, end - gapS - placeboWindowS];
  let visits = new Float64Array(64);

  for (let user = 0; user < userHash.length; user++) {
    if (user % USERS_PER_CHECK === 0) checkpoint(user / userHash.length);
    const [begin, stop] = [userStart[user]!, userStart[user + 1]!];
    if (begin === stop || timeS[begin]! >= end) continue;
    const cell = userHash[user]! % cells;
    const row = cell * channels;
    if (visits.length <= stop - begin) visits = new Float64Array(2 * (stop - begin));
    let visited = 0;
    for (let i = begin; i < stop && timeS[i]! <= end; i++)
      if (conversion[i] === 0 && channel[i] !== NO_CHANNEL && isBaseline[channel[i]!] === 1)
        visits[visited++] = timeS[i]!;
    visits[visited] = Infinity;
    visitCount[cell]! += visited;
    userDays[cell]! += (end - dataStartS) / DAY_S;

    let [beforeFrom, beforeTo, afterFrom, afterTo] = [0, 0, 0, 0];
    for (let i = begin; i < stop; i++) {
      const t = timeS[i]!;
      const x = channel[i]!;
      if (conversion[i] === 1 || x === NO_CHANNEL || t < firstTouch) continue;
      if (t > lastTouch) break;
      while (visits[beforeFrom]! < t - gapS - placeboWindowS) beforeFrom++;
      while (visits[beforeTo]! < t - gapS) beforeTo++;
      while (visits[afterFrom]! <= t + gapS) afterFrom++;
      while (visits[afterTo]! <= t + gapS + placeboWindowS) afterTo++;
      touches[row + x]! += 1;
      before[row + x]! += beforeTo - beforeFrom;
      after[row + x]! += afterTo - afterFrom;
    }
  }
  return { cells, touches, before, after, visitCount, userDays, dataStartS };
}

/** What the flanks of one channel come to. Visits per touch. */
export interface ChannelFlanks {
  readonly touches: number;
  readonly before: number;
  readonly after: number;
  /** delete-a-group jackknife error of before − after */
  readonly differenceError: number;
}

/** Adds up the cells, each of which is one group of the jackknife. */
export function channelFlanks(
  { cells, touches, before, after }: Pick<VisitFlanks, 'cells' | 'touches' | 'before' | 'after'>,
  channels: number,
): readonly ChannelFlanks[] {
  return Array.from({ length: channels }, (_, c) => {
    const total = (rows: Float64Array): number => {
      let sum = 0;
      for (let cell = 0; cell < cells; cell++) sum += rows[cell * channels + c]!;
      return sum;
    };
    const [count, early, late] = [total(touches), total(before), total(after)];
    if (count === 0) return { touches: 0, before: 0, after: 0, differenceError: 0 };
    let squares = 0;
    for (let cell = 0; cell < cells; cell++) {
      const i = cell * channels + c;
      const without = (early - late - before[i]! + after[i]!) / Math.max(1, count - touches[i]!);
      squares += (without - (early - late) / count) ** 2;
    }
    return {
      touches: count,
      before: early / count,
      after: late / count,
      differenceError: Math.sqrt(((cells - 1) / cells) * squares),
    };
  });
}
