import { dayRangeFault, EARLIEST_DAY, MAX_RANGE_DAYS } from '../../../../schema/day-range.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import type { Environment } from '../../../../schema/principal.ts';

/** Both ends inclusive, UTC days, `YYYY-MM-DD`. */
export interface DateRange {
  readonly start: string;
  readonly end: string;
}

const DAY_MS = 86_400_000;

/**
 * Checks a range of days against the calendar, today and the retention of the archive, which does not bind the sandbox.
 * @param member the member of the request that holds it, in the contract's snake_case
 * @throws ProblemError `validation_error` on that member, with `code` invalid_range, future_range, range_too_long or
 * outside_retention.
 */
export function parseDateRange(
  range: readonly string[],
  now: Date,
  environment: Environment,
  member = 'date_range',
): DateRange {
  const refuse = (code: string, message: string): never => {
    const param = `/${member}`;
    throw new ProblemError('validation_error', `${member}: ${message}`, {
      code,
      param,
      errors: [{ param, code, message }],
    });
  };
  const [start, end] = range;
  if (range.length !== 2) refuse('invalid_range', 'give exactly two calendar dates, start and end, as YYYY-MM-DD');
  const fault = dayRangeFault(start, end);
  if (fault !== null) refuse(fault.code, fault.message);
  const today = now.toISOString().slice(0, 10);
  if (end! > today) refuse('future_range', `end must not be after today, ${today} (UTC)`);
  const oldest = new Date(Date.parse(today) - MAX_RANGE_DAYS * DAY_MS).toISOString().slice(0, 10);
  if (start! < oldest && environment === 'live')
    refuse('outside_retention', `start must not be before ${oldest}: older rows are not kept`);
  if (start! < EARLIEST_DAY) refuse('outside_retention', `start must not be before ${EARLIEST_DAY}: no row is older`);
  return { start: start!, end: end! };
}
