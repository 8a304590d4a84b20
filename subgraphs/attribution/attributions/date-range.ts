import { z } from 'zod';
import { ProblemError } from '../../../schema/problems.ts';

/** Both ends inclusive, UTC days, `YYYY-MM-DD`. */
export interface DateRange {
  readonly start: string;
  readonly end: string;
}

/** Longest span and oldest start of a range in days: the archive reaches back two years. */
const MAX_RANGE_DAYS = 731;

const DAY_MS = 86_400_000;
const calendarDate = z.iso.date();

/**
 * Checks a range of days against the calendar, today and the retention of the archive.
 * @throws ProblemError `validation_error` on `/date_range`, with `code` invalid_range, future_range, range_too_long or outside_retention.
 */
export function parseDateRange(range: readonly string[], now: Date): DateRange {
  const [start, end] = range;
  if (range.length !== 2 || !calendarDate.safeParse(start).success || !calendarDate.safeParse(end).success) {
    throw invalid('invalid_range', 'give exactly two calendar dates, start and end, as YYYY-MM-DD');
  }
  if (start! > end!) throw invalid('invalid_range', 'start must not be after end');
  const today = now.toISOString().slice(0, 10);
  if (end! > today) throw invalid('future_range', `end must not be after today, ${today} (UTC)`);
  if (daysIn({ start: start!, end: end! }) > MAX_RANGE_DAYS) throw invalid('range_too_long', `the range must not span more than ${MAX_RANGE_DAYS} days`);
  const oldest = new Date(Date.parse(today) - MAX_RANGE_DAYS * DAY_MS).toISOString().slice(0, 10);
  if (start! < oldest) throw invalid('outside_retention', `start must not be before ${oldest}: older rows are not kept`);
  return { start: start!, end: end! };
}

/** Number of days in a range, both ends counted. */
export function daysIn(range: DateRange): number {
  return Math.round((Date.parse(range.end) - Date.parse(range.start)) / DAY_MS) + 1;
}

function invalid(code: string, message: string): ProblemError {
  return new ProblemError('validation_error', `date_range: ${message}`, { code, param: '/date_range', errors: [{ param: '/date_range', code, message }] });
}
