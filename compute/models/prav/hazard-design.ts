import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';

/** A baseline channel's touches count in three windows after them, that end at these parts of the horizon. */
export const BASELINE_WINDOW_ENDS = [3 / 14, 1 / 2, 1] as const;
/** A paid channel's touches count in two, equally long: what the second holds of the first tells how the effect wears off (ad-stock). */
export const PAID_WINDOW_ENDS = [1 / 2, 1] as const;

/** Columns of a regression: column 0 is the constant, then those of each channel, one per window. */
export interface HazardColumns {
  readonly columns: number;
  /** first column of each channel */
  readonly columnOf: Uint16Array;
  /** columns of each channel */
  readonly windowsOf: Uint8Array;
  /** length of each column's window in days; 0 for the constant */
  readonly windowDays: Float64Array;
}

/** What the sums are collected by, and the same with the windows of each paid channel joined to one (`joinedOf` = where each column goes). */
export interface HazardDesign extends HazardColumns {
  readonly joined: HazardColumns;
  readonly joinedOf: Uint16Array;
}

function columnsOf(endsOf: readonly (readonly number[])[], horizonDays: number): HazardColumns {
  const windowDays = [0];
  const columnOf = new Uint16Array(endsOf.length);
  endsOf.forEach((ends, c) => {
    columnOf[c] = windowDays.length;
    windowDays.push(...ends.map((end, w) => (end - (ends[w - 1] ?? 0)) * horizonDays));
  });
  return { columns: windowDays.length, columnOf, windowsOf: Uint8Array.from(endsOf, (ends) => ends.length), windowDays: Float64Array.from(windowDays) };
}

export function hazardDesign({ isBaseline, horizonS }: Pick<RunOptions, 'isBaseline' | 'horizonS'>): HazardDesign {
  const days = horizonS / DAY_S;
  const endsOf = (paidEnds: readonly number[]): (readonly number[])[] => Array.from(isBaseline, (baseline) => (baseline === 1 ? BASELINE_WINDOW_ENDS : paidEnds));
  const split = columnsOf(endsOf(PAID_WINDOW_ENDS), days);
  const joined = columnsOf(endsOf([1]), days);
  const joinedOf = new Uint16Array(split.columns);
  isBaseline.forEach((_, c) => {
    for (let w = 0; w < split.windowsOf[c]!; w++) joinedOf[split.columnOf[c]! + w] = joined.columnOf[c]! + Math.min(w, joined.windowsOf[c]! - 1);
  });
  return { ...split, joined, joinedOf };
}
