/** Longest span of a range in days, both ends counted; also how far back rows are kept (two years and a day). */
export const MAX_RANGE_DAYS = 731;

/** First day that a row may have: before it no shop had rows of the kind. */
export const EARLIEST_DAY = '2000-01-01';
/** How far ahead of now a row may be dated: time zones differ, and clocks go wrong. */
export const MAX_AHEAD_HOURS = 48;
export const MAX_AHEAD_MS = MAX_AHEAD_HOURS * 3_600_000;

/** The dates that rows of uploads may have. A deployment may narrow them. */
export interface RowDates {
  /** `YYYY-MM-DD`, UTC. */
  readonly earliestDay: string;
  /** Ahead of the upload. */
  readonly maxAheadHours: number;
}

/** The widest that they may be, and what they are unless a deployment says otherwise. */
export const WIDEST_ROW_DATES: RowDates = { earliestDay: EARLIEST_DAY, maxAheadHours: MAX_AHEAD_HOURS };

const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** What is wrong with a range of days, whatever day it is today. */
export interface DayRangeFault {
  readonly code: 'invalid_range' | 'range_too_long';
  readonly message: string;
}

/** The UTC day of a moment, `YYYY-MM-DD`. */
export function dayAt(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** The UTC day after a day. */
export function dayAfter(day: string): string {
  return dayAt(Date.parse(day) + DAY_MS);
}

/** Number of UTC days from `start` to `end`, both counted. */
export function daysBetween(start: string, end: string): number {
  return Math.round((Date.parse(end) - Date.parse(start)) / DAY_MS) + 1;
}

/** The fault of a range of UTC days (`YYYY-MM-DD`, both ends inclusive), or null. */
export function dayRangeFault(start: string | undefined, end: string | undefined): DayRangeFault | null {
  if (!isDay(start) || !isDay(end))
    return { code: 'invalid_range', message: 'both must be calendar dates, YYYY-MM-DD' };
  if (start > end) return { code: 'invalid_range', message: 'start must not be after end' };
  if (daysBetween(start, end) > MAX_RANGE_DAYS)
    return { code: 'range_too_long', message: `the range must not span more than ${MAX_RANGE_DAYS} days` };
  return null;
}

/** A day that the calendar has: 30 February is none. */
function isDay(text: string | undefined): text is string {
  if (text === undefined || !DAY.test(text)) return false;
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
