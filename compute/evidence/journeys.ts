import { NO_CHANNEL } from '../journey-tables.ts';
import type { EventTable, PathTable } from '../journey-tables.ts';

/** Which journeys of an event table are walked. Seconds since the epoch. */
export interface JourneyWindow {
  /** a journey counts when its last event lies in [startS, endS) */
  readonly startS: number;
  readonly endS: number;
  /** touches longer than this before the last event are left out */
  readonly lookbackS: number;
  /** events before this are not seen at all; all are seen where absent */
  readonly seenFromS?: number;
}

/**
 * One journey: the steps are `channel[begin .. end)` of the event table, and `value` its revenue, 0 where it did not
 * convert. `begin === end` is a conversion without a touch.
 */
export type JourneyVisitor = (user: number, begin: number, end: number, converts: boolean, value: number) => void;

const USERS_PER_CHECK = 512;

/** Lookback is compared in whole milliseconds, as the stored times are. */
const isWithin = (touchS: number, lastS: number, lookbackS: number): boolean =>
  Math.round((lastS - touchS) * 1000) <= lookbackS * 1000;

/**
 * Walks the journeys of a window in the order of users: a user's touches are split behind each conversion; the click
 * attached to a conversion is its last touch; what follows the last conversion is a journey without one. Conversions
 * ahead of the window only end the journeys before them.
 */
export function eachJourney(
  table: EventTable,
  window: JourneyWindow,
  visit: JourneyVisitor,
  tick: (fraction: number) => void,
): void {
  const { userStart, timeS, channel, conversion, value } = table;
  const { startS, endS, lookbackS, seenFromS = -Infinity } = window;
  const users = userStart.length - 1;
  let valueIndex = 0;
  for (let user = 0; user < users; user++) {
    if (user % USERS_PER_CHECK === 0) tick(user / users);
    const stop = userStart[user + 1]!;
    let i = userStart[user]!;
    for (; i < stop && timeS[i]! < seenFromS; i++) valueIndex += conversion[i]!;
    let begin = i;
    for (; i < stop && timeS[i]! < endS; i++) {
      if (conversion[i] === 0) continue;
      const t = timeS[i]!;
      const earned = value[valueIndex++]!;
      if (t >= startS) {
        const end = channel[i] === NO_CHANNEL ? i : i + 1;
        while (begin < end && !isWithin(timeS[begin]!, t, lookbackS)) begin++;
        visit(user, begin, end, true, earned);
      }
      begin = i + 1;
    }
    if (begin < i && timeS[i - 1]! >= startS) {
      const last = timeS[i - 1]!;
      while (!isWithin(timeS[begin]!, last, lookbackS)) begin++;
      visit(user, begin, i, false, 0);
    }
    for (; i < stop; i++) valueIndex += conversion[i]!;
  }
}

/** The journeys of a window as a path table, one row per journey with a touch. */
export function journeysAsPaths(table: EventTable, window: JourneyWindow): PathTable {
  // No journey without an event, and no event in two.
  const most = table.channel.length;
  const offsets = new Uint32Array(most + 1);
  const steps = new Uint16Array(most);
  const [conversions, value, nulls] = [new Float64Array(most), new Float64Array(most), new Float64Array(most)];
  let [journeys, length] = [0, 0];
  eachJourney(
    table,
    window,
    (_user, begin, end, converts, earned) => {
      if (begin === end) return;
      for (let i = begin; i < end; i++) steps[length++] = table.channel[i]!;
      conversions[journeys] = converts ? 1 : 0;
      value[journeys] = earned;
      nulls[journeys] = converts ? 0 : 1;
      offsets[++journeys] = length;
    },
    () => undefined,
  );
  const kept = (column: Float64Array): Float64Array => column.subarray(0, journeys);
  return {
    channels: table.channels,
    offsets: offsets.subarray(0, journeys + 1),
    steps: steps.subarray(0, length),
    conversions: kept(conversions),
    value: kept(value),
    nulls: kept(nulls),
  };
}
