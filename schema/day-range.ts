/** Longest span of a range in days, both ends counted; also how far back rows are kept (two years and a day). */
export const MAX_RANGE_DAYS = 731;

const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** What is wrong with a range of days, whatever day it is today. */
export interface DayRangeFault {
  readonly code: 'invalid_range' | 'range_too_long';
  readonly message: string;
}

/** Number of UTC days from `start` to `end`, both counted. */
export function daysBetween(start: string, end: string): number {
  return Math.round((Date.parse(end) - Date.parse(start)) / DAY_MS) + 1;
}

/** The fault of a range of UTC days (`YYYY-MM-DD`, both ends inclusive), or null. */
export function dayRangeFault(start: string | undefined, end: string | undefined): DayRangeFault | null {
  if (!isDay(start) || !isDay(end)) return { code: 'invalid_range', message: 'both must be calendar dates, YYYY-MM-DD' };
  if (start > end) return { code: 'invalid_range', message: 'start must not be after end' };
  if (daysBetween(start, end) > MAX_RANGE_DAYS) return { code: 'range_too_long', message: `the range must not span more than ${MAX_RANGE_DAYS} days` };
  return null;
}

/** A day that the calendar has: 30 February is none. */
function isDay(text: string | undefined): text is string {
  if (text === undefined || !DAY.test(text)) return false;
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
