import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';

/**
 * A touch counts in three windows after it, that end at these parts of the horizon: first days, rest of the first half,
 * second half. The same for every channel: were the windows of paid touches wider, visits that come among them would
 * speak for their first days.
 */
export const WINDOW_ENDS = [3 / 14, 1 / 2, 1] as const;
/** The windows that make up the first half. */
export const EARLY_WINDOWS = 2;

/** A moment with this many touches in reach counts a quarter of one without any. */
const CROWD_TOUCHES = 2;

/** Columns of the regressions: column 0 is the constant, then those of each channel, one per window. */
export interface HazardDesign {
  readonly columns: number;
  /** first column of each channel */
  readonly columnOf: Uint16Array;
  /** length of each column's window in days; 0 for the constant */
  readonly windowDays: Float64Array;
}

/** The columns for so many channels, each with the windows of {@link WINDOW_ENDS}. */
export function hazardDesign(channels: number, { horizonS }: Pick<RunOptions, 'horizonS'>): HazardDesign {
  const lengths = WINDOW_ENDS.map((end, w) => ((end - (WINDOW_ENDS[w - 1] ?? 0)) * horizonS) / DAY_S);
  const columnOf = Uint16Array.from({ length: channels }, (_, c) => 1 + c * lengths.length);
  const columns = 1 + channels * lengths.length;
  return {
    columns,
    columnOf,
    windowDays: Float64Array.from({ length: columns }, (_, j) => (j === 0 ? 0 : lengths[(j - 1) % lengths.length]!)),
  };
}

/**
 * What a moment counts in the regressions, by the touches whose horizon holds it: 1 / (1 + touches / 2)². Rates grow
 * with the touches and their variance with them (weighted least squares, Huffer & McKeague 1991); and where touches are
 * crowded, effects wear out and interest outgrows what a straight line through few touches says.
 */
export const momentWeight = (touches: number): number => (1 + touches / CROWD_TOUCHES) ** -2;
