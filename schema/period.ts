import { dayAt } from './day-range.ts';

/** A stretch of time that figures are of, in UTC. */
export interface Period {
  /** Canonical: `2026-02-14`, `2026-W07`, `2026-02` or `all`; may be asked for again. */
  readonly name: string;
  /** First moment; null for `all`, which has none. */
  readonly from: Date | null;
  /** First moment behind it; null for `all`. */
  readonly until: Date | null;
}

const DAY_MS = 86_400_000;
const MONTH = /^(\d{4})-(\d{2})$/;
const WEEK = /^(\d{4})-W(\d{2})$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** PostgreSQL has no year 0, and 9999 is the last that every store can read. */
const YEARS = { first: 1, last: 9998 } as const;

/** What a period that nobody understands is answered with. */
export const PERIOD_FAULT = 'must be a month such as 2026-02, or day, week, month, all';

/**
 * The period that a text names at a moment: a month as `YYYY-MM`; `day`, `week` (ISO 8601), `month`, which are those of
 * the moment; `all`; and whatever `name` says of one. Null for anything else.
 */
export function parsePeriod(text: string, now: Date): Period | null {
  const today = dayAt(now.getTime());
  switch (text) {
    case 'all':
      return { name: 'all', from: null, until: null };
    case 'day':
      return dayPeriod(today);
    case 'week':
      return weekPeriod(weekNameOf(now));
    case 'month':
      return monthPeriod(today.slice(0, 'YYYY-MM'.length));
    default:
      return monthPeriod(text) ?? weekPeriod(text) ?? dayPeriod(text);
  }
}

/** Whether a text names a period, whatever day it is. */
export function isPeriod(text: string): boolean {
  return parsePeriod(text, new Date(0)) !== null;
}

/** The month of a moment. */
export function monthOf(now: Date): Period & { readonly from: Date; readonly until: Date } {
  return monthPeriod(dayAt(now.getTime()).slice(0, 'YYYY-MM'.length))!;
}

function monthPeriod(text: string): (Period & { readonly from: Date; readonly until: Date }) | null {
  const [, year = '', month = ''] = MONTH.exec(text) ?? [];
  if (!isYear(year) || Number(month) < 1 || Number(month) > 12) return null;
  // Date.UTC takes the month behind December for the next January.
  return { name: text, from: utc(Number(year), Number(month) - 1), until: utc(Number(year), Number(month)) };
}

/** The week with the first Thursday of a year is its first (ISO 8601). */
function weekPeriod(text: string): Period | null {
  const [, year = '', week = ''] = WEEK.exec(text) ?? [];
  if (!isYear(year)) return null;
  const fourth = utc(Number(year), 0, 4);
  const monday = fourth.getTime() - weekdayOf(fourth) * DAY_MS;
  const from = new Date(monday + (Number(week) - 1) * 7 * DAY_MS);
  // Week 53 of a year that has 52, and week 0, are called otherwise.
  return weekNameOf(from) === text ? { name: text, from, until: new Date(from.getTime() + 7 * DAY_MS) } : null;
}

function dayPeriod(text: string): Period | null {
  if (!DAY.test(text) || !isYear(text.slice(0, 4))) return null;
  const from = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(from.getTime()) || dayAt(from.getTime()) !== text) return null;
  return { name: text, from, until: new Date(from.getTime() + DAY_MS) };
}

function weekNameOf(moment: Date): string {
  const midnight = Date.parse(dayAt(moment.getTime()));
  const thursday = new Date(midnight + (3 - weekdayOf(new Date(midnight))) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - utc(year, 0).getTime()) / (7 * DAY_MS)) + 1;
  return `${String(year).padStart(4, '0')}-W${String(week).padStart(2, '0')}`;
}

/** From 0 for Monday. */
const weekdayOf = (day: Date): number => (day.getUTCDay() + 6) % 7;

const isYear = (text: string): boolean => text !== '' && Number(text) >= YEARS.first && Number(text) <= YEARS.last;

/** `Date.UTC` takes years before 100 for those of the last century. */
function utc(year: number, month: number, day = 1): Date {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  return date;
}
