import { z } from 'zod';
import { dayRangeFault, MAX_RANGE_DAYS } from '../day-range.ts';

// Whether it is a calendar date is checked on the range as a whole, so that one message says so.
const day = z.string().meta({ format: 'date' });
const SEPARATOR = /[,/]/;
const TWO_DATES = 'give two calendar dates (YYYY-MM-DD) as [start, end], {"start", "end"} or "start,end"';
const separated = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}[,/]\d{4}-\d{2}-\d{2}$/, TWO_DATES)
  .meta({ examples: ['2026-01-01,2026-01-31', '2026-01-01/2026-01-31'] });

/** The days of a list that has both in one text; anything else as it is. */
export function separateDays<Value>(value: Value): Value | string[] {
  const [only, ...others] = Array.isArray(value) ? (value as unknown[]) : [];
  return typeof only === 'string' && others.length === 0 ? only.split(SEPARATOR) : value;
}

/**
 * A range of UTC days, both ends inclusive, in any of the accepted forms, as `[start, end]`.
 * What depends on today (the future, the retention of the archive) the domain checks.
 */
export const dateRange = z
  .union([z.tuple([day, day]), z.object({ start: day, end: day }), separated], {
    error: TWO_DATES,
  })
  .transform((given, context): readonly [string, string] => {
    const [start, end] =
      typeof given === 'string' ? given.split(SEPARATOR) : Array.isArray(given) ? given : [given.start, given.end];
    const fault = dayRangeFault(start, end);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault.message, params: { code: fault.code } });
    return [start!, end!];
  })
  .meta({ description: `UTC days, both ends inclusive, at most ${MAX_RANGE_DAYS} of them.` });
