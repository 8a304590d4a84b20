import { dayAt, daysBetween, EARLIEST_DAY, MAX_AHEAD_MS, MAX_RANGE_DAYS } from '../../../../schema/day-range.ts';

const DAY_MS = 86_400_000;

/** The days that rows reach over, `YYYY-MM-DD`, UTC. */
export interface Coverage {
  readonly earliest: string | null;
  readonly latest: string | null;
  /** Days in between without any row, among the last 731: no analysis can ask for more. */
  readonly missingDays: readonly string[];
}

/** What the days with rows amount to, in their order. Days that no row may have are left out. */
export function coverageOf(days: readonly string[], now: Date): Coverage {
  const last = dayAt(now.getTime() + MAX_AHEAD_MS);
  const covered = new Set(days.filter((day) => day >= EARLIEST_DAY && day <= last));
  const [earliest = null, latest = null] = [[...covered][0], [...covered].at(-1)];
  const listed = listedDays(earliest, latest);
  const span = Array.from({ length: listed }, (_, place) => dayAt(Date.parse(latest!) - (listed - 1 - place) * DAY_MS));
  return { earliest, latest, missingDays: span.filter((day) => !covered.has(day)) };
}

/** Share of days with rows, among the days whose gaps are listed; 0 without any. */
export function completenessOf({ earliest, latest, missingDays }: Coverage): number {
  const listed = listedDays(earliest, latest);
  return listed === 0 ? 0 : Math.max(0, 1 - missingDays.length / listed);
}

function listedDays(earliest: string | null, latest: string | null): number {
  return earliest === null || latest === null ? 0 : Math.min(MAX_RANGE_DAYS, daysBetween(earliest, latest));
}
