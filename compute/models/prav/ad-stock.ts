import { NO_CHANNEL } from '../../journey-tables.ts';
import type { EventTable } from '../../journey-tables.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';

/**
 * Beyond this ratio the effect would outlive the horizon several times over, and nothing observed would bear the
 * extrapolation.
 */
const MOST_RATIO = 0.7;
/** Touches further than this from an edge of the range count as out of its reach. */
const EDGE_DAYS = 91;

/** How the effect of a touch wears off: `ratio` = effect in the second half of the horizon over that in the first. */
export interface AdStock {
  readonly ratio: number;
  /** the whole effect over that within the horizon: 1 / (1 − ratio²) */
  readonly beyond: number;
  /**
   * per channel: touches that each count the part of their effect that falls into the range, over those that count the
   * part of their horizon
   */
  readonly reach: Float64Array;
}

/**
 * Touches by channel and by whole days to an edge of the range (row-major, channels × EDGE_DAYS; the last entry takes
 * all that are further).
 */
export interface TouchCalendar {
  /** of the range: days until it ends */
  readonly left: Float64Array;
  /** before the range: days until it begins */
  readonly before: Float64Array;
}

/**
 * Counts the touches of the table in one pass; those after the range, or after the last stored event, have no effect in
 * it.
 */
export function touchCalendar(
  { timeS, channel, conversion, channels }: EventTable,
  { rangeStartS, rangeEndS, observedUntilS }: RunOptions,
): TouchCalendar {
  const left = new Float64Array(channels.length * EDGE_DAYS);
  const before = new Float64Array(channels.length * EDGE_DAYS);
  const end = Math.min(rangeEndS, observedUntilS);
  for (let i = 0; i < timeS.length; i++) {
    const t = timeS[i]!;
    const c = channel[i]!;
    if (conversion[i] === 1 || c === NO_CHANNEL || t > end) continue;
    const edge = t >= rangeStartS ? end : rangeStartS;
    const days = Math.min(EDGE_DAYS - 1, Math.floor((edge - t) / DAY_S));
    (t >= rangeStartS ? left : before)[c * EDGE_DAYS + days]! += 1;
  }
  return { left, before };
}

/**
 * Geometric ad-stock (Broadbent 1979): effects that fall by the same factor from one half of the horizon to the next go
 * on to do so beyond it. `observed` is the effect in the second half over that in the first, all paid touches together,
 * and `error` its standard error: only what is beyond chance is carried on. `uniform` has, per channel, the touches
 * that each count the part of their horizon in the range.
 */
export function adStockOf(
  observed: number,
  error: number,
  calendar: TouchCalendar,
  uniform: Float64Array,
  horizonDays: number,
): AdStock {
  const ratio = Math.min(MOST_RATIO, Math.max(0, observed - error));
  const half = horizonDays / 2;
  // What is left of a touch's effect after so many days; at ratio 0 all of it falls into the first half, evenly.
  const remaining = Float64Array.from({ length: EDGE_DAYS }, (_, day) =>
    ratio > 0 ? ratio ** ((day + 0.5) / half) : Math.max(0, 1 - (day + 0.5) / half),
  );
  const reach = uniform.map((touches, c) => {
    let count = 0;
    for (let day = 0; day < EDGE_DAYS; day++) {
      const i = c * EDGE_DAYS + day;
      count += calendar.left[i]! * (1 - remaining[day]!);
      // The last entry of those before the range holds all that are too far away.
      if (day < EDGE_DAYS - 1) count += calendar.before[i]! * remaining[day]!;
    }
    return touches > 0 ? count / touches : 1;
  });
  return { ratio, beyond: 1 / (1 - ratio * ratio), reach };
}
