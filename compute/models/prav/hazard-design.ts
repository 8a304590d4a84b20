import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';

/** A baseline channel's touches count in three windows after them, that end at these parts of the horizon. */
export const BASELINE_WINDOW_ENDS = [3 / 14, 1 / 2, 1] as const;

/** What the hazards are regressed on: column 0 is the constant, then one column per paid channel, three per baseline channel. */
export interface HazardDesign {
  readonly columns: number;
  /** first column of each channel */
  readonly columnOf: Uint16Array;
  /** length of each column's window in days; 0 for the constant */
  readonly windowDays: Float64Array;
}

export function hazardDesign({ isBaseline, horizonS }: Pick<RunOptions, 'isBaseline' | 'horizonS'>): HazardDesign {
  const columnOf = new Uint16Array(isBaseline.length);
  const windowDays = [0];
  const days = horizonS / DAY_S;
  isBaseline.forEach((baseline, c) => {
    columnOf[c] = windowDays.length;
    if (baseline === 1) windowDays.push(...BASELINE_WINDOW_ENDS.map((end, w) => (end - (BASELINE_WINDOW_ENDS[w - 1] ?? 0)) * days));
    else windowDays.push(days);
  });
  return { columns: windowDays.length, columnOf, windowDays: Float64Array.from(windowDays) };
}
