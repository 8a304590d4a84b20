import { z } from 'zod';

const MAX_RANGE_DAYS = 731;
const DAY_MS = 86_400_000;

const date = z.iso.date();
// Whether it is a calendar date is checked on the range as a whole, so that one message says so.
const day = z.string().meta({ format: 'date' });
const separated = z.string().regex(/^\d{4}-\d{2}-\d{2}[,/]\d{4}-\d{2}-\d{2}$/).meta({ examples: ['2026-01-01,2026-01-31', '2026-01-01/2026-01-31'] });

/**
 * A range of UTC days, both ends inclusive, in any of the accepted forms, as `[start, end]`.
 * What depends on today (the future, the retention of the archive) the domain checks.
 */
export const dateRange = z
  .union([z.tuple([day, day]), z.object({ start: day, end: day }), separated], {
    error: 'give two calendar dates (YYYY-MM-DD) as [start, end], {"start", "end"} or "start,end"',
  })
  .transform((given, context): readonly [string, string] => {
    const [start, end] = typeof given === 'string' ? given.split(/[,/]/) : Array.isArray(given) ? given : [given.start, given.end];
    const refuse = (code: string, message: string): void => context.addIssue({ code: 'custom', message, params: { code } });
    if (!date.safeParse(start).success || !date.safeParse(end).success) refuse('invalid_range', 'both must be calendar dates, YYYY-MM-DD');
    else if (start! > end!) refuse('invalid_range', 'start must not be after end');
    else if ((Date.parse(end!) - Date.parse(start!)) / DAY_MS >= MAX_RANGE_DAYS) refuse('range_too_long', `the range must not span more than ${MAX_RANGE_DAYS} days`);
    return [start!, end!];
  })
  .meta({ description: 'UTC days, both ends inclusive, at most 731 of them.' });
