import type { EventTable } from '../../journey-tables.ts';
import type { Segments } from '../prav/exposure-sums.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';

/** The requested range cut into periods of whole UTC days. */
export interface PeriodTable {
  readonly count: number;
  /** per day of the range, the first one at 0: its period */
  readonly ofDay: Uint16Array;
}

/** Of events outside the range. */
export const NO_SEGMENT = 65_535;

/** The period that a moment lies in, NO_SEGMENT outside the range. */
export function periodAt({ ofDay }: PeriodTable, rangeStartS: number, timeS: number): number {
  const day = Math.floor((timeS - rangeStartS) / DAY_S);
  return day >= 0 && day < ofDay.length ? ofDay[day]! : NO_SEGMENT;
}

/** Every event's period, as the segments that PRAV splits its credit over. */
export function periodSegments(
  { timeS }: EventTable,
  { rangeStartS }: Pick<RunOptions, 'rangeStartS'>,
  periods: PeriodTable,
): Segments {
  const of = new Uint16Array(timeS.length);
  for (let i = 0; i < timeS.length; i++) of[i] = periodAt(periods, rangeStartS, timeS[i]!);
  return { of, count: periods.count };
}
