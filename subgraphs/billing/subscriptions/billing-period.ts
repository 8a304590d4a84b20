const DAY_MS = 86_400_000;

/** A time that is paid for at once. */
export interface PaidPeriod {
  readonly start: Date;
  readonly end: Date;
}

/** So many days from a moment. */
export function daysFrom(start: Date, days: number): PaidPeriod {
  return { start, end: new Date(start.getTime() + days * DAY_MS) };
}

/**
 * The month behind so many others since `anchor`: the same day and time of the month, UTC, or the last day of a month
 * that is too short for it.
 */
export function monthAfter(anchor: Date, months: number): PaidPeriod {
  return { start: monthsLater(anchor, months), end: monthsLater(anchor, months + 1) };
}

function monthsLater(anchor: Date, months: number): Date {
  const first = new Date(anchor);
  first.setUTCDate(1);
  first.setUTCMonth(first.getUTCMonth() + months);
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  first.setUTCDate(Math.min(anchor.getUTCDate(), days));
  return first;
}
