import type { TaskInput } from '../../../../compute/tasks.ts';
import type { Granularity } from './attribution.ts';
import type { Period } from './figures.ts';

const DAY_MS = 86_400_000;

/** The days, weeks (from Monday) or months of a range, in order, and which of them each day belongs to. */
export interface Calendar {
  readonly periods: readonly Period[];
  readonly table: TaskInput<'breakdown'>['periods'];
}

/** The calendar of a range of whole UTC days, seconds since the epoch, its end exclusive. */
export function calendarOf(
  { rangeStartS, rangeEndS }: { readonly rangeStartS: number; readonly rangeEndS: number },
  granularity: Granularity,
): Calendar {
  const firstMs = rangeStartS * 1000;
  const days = (rangeEndS * 1000 - firstMs) / DAY_MS;
  const ofDay = new Uint16Array(new SharedArrayBuffer(days * Uint16Array.BYTES_PER_ELEMENT));
  const startsMs: number[] = [];
  for (let day = 0; day < days; day += 1) {
    const startMs = startOf(firstMs + day * DAY_MS, granularity);
    if (startsMs.at(-1) !== startMs) startsMs.push(startMs);
    ofDay[day] = startsMs.length - 1;
  }
  const rangeEndMs = firstMs + days * DAY_MS;
  const periods = startsMs.map((startMs): Period => ({
    start: dateOf(startMs),
    partial: startMs < firstMs || endOf(startMs, granularity) > rangeEndMs,
  }));
  return { periods, table: { count: periods.length, ofDay } };
}

function startOf(dayMs: number, granularity: Granularity): number {
  const day = new Date(dayMs);
  switch (granularity) {
    case 'daily':
      return dayMs;
    case 'weekly':
      return dayMs - ((day.getUTCDay() + 6) % 7) * DAY_MS;
    case 'monthly':
      return dayMs - (day.getUTCDate() - 1) * DAY_MS;
  }
}

function endOf(startMs: number, granularity: Granularity): number {
  const start = new Date(startMs);
  switch (granularity) {
    case 'daily':
      return startMs + DAY_MS;
    case 'weekly':
      return startMs + 7 * DAY_MS;
    case 'monthly':
      return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1);
  }
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
